#include "options/label_methods.h"

#include <charconv>

namespace jprof::options {
namespace {

// Parses what follows the last colon, if that is not part of Class::method.
Result<uint32_t> ParseArgument(std::string_view text) {
  uint32_t number = 0;
  const char* const last = text.data() + text.size();
  const auto [end, problem] = std::from_chars(text.data(), last, number);
  if (problem != std::errc() || end != last || number == 0 || number > UINT8_MAX)
    return WrongUse("'{}' is not the number of an argument, from 1 to {}", text, UINT8_MAX);
  return number;
}

}  // namespace

Result<LabelMethod> ParseLabelMethod(std::string_view text) {
  LabelMethod method;
  const size_t colon = text.rfind(':');
  std::string_view path = text;
  if (colon != text.npos && (colon == 0 || text[colon - 1] != ':') &&
      text.find_first_of(".#/", colon) == text.npos) {
    const auto argument = ParseArgument(text.substr(colon + 1));
    if (!argument) return std::unexpected(argument.error());
    method.argument = *argument;
    path = text.substr(0, colon);
  }
  if (path.contains('*'))
    return WrongUse("'{}' may match several methods: name one, as com.acme.Shop.handle", path);
  auto filter = ParseFilter(path, Names::kMethods);
  if (!filter) return std::unexpected(filter.error());
  if (filter->items.size() != 1 || !filter->items.front().include)
    return WrongUse("'{}' is not a method: name one, as com.acme.Shop.handle", path);
  const std::string& name = filter->items.front().text;
  const size_t dot = name.rfind('.');
  if (dot == name.npos || dot == 0 || dot + 1 == name.size())
    return WrongUse("'{}' has no class: name a method with its class, as com.acme.Shop.handle",
                    path);
  method.name = name.substr(dot + 1);
  method.filter = *std::move(filter);
  return method;
}

}  // namespace jprof::options
