#include "profile/import/periods.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace jprof::profile {
namespace {

constexpr double kLongestPeriod = 3600e9;
constexpr double kMostOfOne = 0x1p53;  // samples that one stands for; more is damage

}  // namespace

uint64_t ParseSpan(std::string_view text) {
  static constexpr std::pair<std::string_view, double> kUnits[] = {
      {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"", 1}};
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return 0;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  if (text.starts_with(' ')) text.remove_prefix(1);
  for (const auto& [unit, ns] : kUnits) {
    if (text != unit) continue;
    const double span = number * ns;
    return span >= 1 && span <= kLongestPeriod ? static_cast<uint64_t>(std::llround(span)) : 0;
  }
  return 0;
}

uint64_t CommonPeriod::Get() const {
  const auto most = std::ranges::max_element(
      samples_, {}, [](const auto& entry) { return entry.first == 0 ? 0 : entry.second; });
  return most == samples_.end() ? 0 : most->first;
}

uint64_t CommonPeriod::Others() const {
  uint64_t others = 0;
  const uint64_t common = Get();
  for (const auto& [period, samples] : samples_) others += period != common ? samples : 0;
  return others;
}

int64_t CommonPeriod::Convert(uint64_t period_ns) {
  if (common_ == 0) common_ = Get();
  if (common_ == 0 || period_ns == 0 || period_ns == common_) return 1;
  const double value = static_cast<double>(period_ns) / static_cast<double>(common_) + carried_;
  const int64_t whole = std::llround(std::min(value, kMostOfOne));
  carried_ = std::min(value - static_cast<double>(whole), 0.5);
  return whole;
}

}  // namespace jprof::profile
