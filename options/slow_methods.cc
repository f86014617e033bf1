#include "options/slow_methods.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

namespace jprof::options {
namespace {

constexpr std::pair<std::string_view, uint64_t> kTimeUnits[] = {
    {"us", 1'000}, {"ms", 1'000'000}, {"s", 1'000'000'000}};
constexpr uint64_t kLongest = 3600ull * 1'000'000'000;

Result<uint64_t> ParseTime(std::string_view text) {
  uint64_t number = 0;
  const char* const last = text.data() + text.size();
  const auto [end, problem] = std::from_chars(text.data(), last, number);
  const std::string_view unit(end, static_cast<size_t>(last - end));
  const auto* const found =
      std::ranges::find(kTimeUnits, unit, &std::pair<std::string_view, uint64_t>::first);
  if (problem != std::errc() || found == std::end(kTimeUnits) || number == 0 ||
      number > kLongest / found->second)
    return WrongUse("'{}' is not a time from 1us to 3600s, such as 500us, 10ms or 2s", text);
  return number * found->second;
}

}  // namespace

Result<SlowMethods> ParseSlowMethods(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == text.npos || colon == 0 || text[colon - 1] == ':')
    return WrongUse("'{}' has no time: add it to the method, as com.acme.Cart.total:10ms", text);
  const auto time = ParseTime(text.substr(colon + 1));
  if (!time) return std::unexpected(time.error());
  auto filter = ParseFilter(text.substr(0, colon), Names::kMethods);
  if (!filter) return std::unexpected(filter.error());
  if (filter->items.size() != 1 || !filter->items.front().include)
    return WrongUse("'{}' is not one method, class or package", text.substr(0, colon));
  return SlowMethods{*std::move(filter), *time};
}

}  // namespace jprof::options
