#include "model/tree/readable_name.h"

#include <algorithm>
#include <optional>

namespace jprof::model {
namespace {

std::string_view PrimitiveName(char letter) {
  switch (letter) {
    case 'B':
      return "byte";
    case 'C':
      return "char";
    case 'D':
      return "double";
    case 'F':
      return "float";
    case 'I':
      return "int";
    case 'J':
      return "long";
    case 'S':
      return "short";
    case 'Z':
      return "boolean";
    default:
      return "";
  }
}

std::string Dotted(std::string_view name) {
  std::string dotted(name);
  std::ranges::replace(dotted, '/', '.');
  return dotted;
}

// Removes the first type from `descriptors` and returns it, or nothing if it is damaged.
std::optional<std::string> TakeType(std::string_view& descriptors) {
  const size_t dimensions = std::min(descriptors.find_first_not_of('['), descriptors.size());
  descriptors.remove_prefix(dimensions);
  if (descriptors.empty()) return std::nullopt;
  std::string type;
  size_t used = 1;
  if (descriptors.front() == 'L') {
    used = descriptors.find(';');
    if (used == descriptors.npos) return std::nullopt;
    type = Dotted(descriptors.substr(1, used++ - 1));
  } else {
    type = PrimitiveName(descriptors.front());
  }
  if (type.empty()) return std::nullopt;
  descriptors.remove_prefix(used);
  for (size_t i = 0; i < dimensions; ++i) type += "[]";
  return type;
}

}  // namespace

std::string_view WithoutSignature(std::string_view full) {
  const size_t open = full.rfind('(');
  const size_t dot = full.rfind('.', open);
  if (open == full.npos || open == 0 || dot == full.npos) return full;
  return full.find(')', open) == full.npos ? full : full.substr(0, open);
}

std::string ReadableMethod(std::string_view full) {
  const std::string_view name = WithoutSignature(full);
  if (name.size() == full.size()) return std::string(full);
  std::string_view types = full.substr(name.size() + 1);
  types = types.substr(0, types.find(')'));
  std::string readable = Dotted(name) + "(";
  for (bool first = true; !types.empty(); first = false) {
    const std::optional<std::string> type = TakeType(types);
    if (!type) return std::string(full);
    readable += (first ? "" : ", ") + *type;
  }
  return readable + ")";
}

}  // namespace jprof::model
