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

std::string_view WithoutPackage(std::string_view name) { return name.substr(name.rfind('/') + 1); }

// Removes the first type from `descriptors` and returns it, or nothing if it is damaged.
std::optional<std::string> TakeType(std::string_view& descriptors, bool packages) {
  const size_t dimensions = std::min(descriptors.find_first_not_of('['), descriptors.size());
  descriptors.remove_prefix(dimensions);
  if (descriptors.empty()) return std::nullopt;
  std::string type;
  size_t used = 1;
  if (descriptors.front() == 'L') {
    used = descriptors.find(';');
    if (used == descriptors.npos) return std::nullopt;
    const std::string_view name = descriptors.substr(1, used++ - 1);
    type = packages ? Dotted(name) : std::string(WithoutPackage(name));
  } else {
    type = PrimitiveName(descriptors.front());
  }
  if (type.empty()) return std::nullopt;
  descriptors.remove_prefix(used);
  for (size_t i = 0; i < dimensions; ++i) type += "[]";
  return type;
}

// Returns "CHAR[]" of "[C", and "java/lang/String[]" of "[Ljava/lang/String;".
std::string ClassicClass(std::string_view jvm) {
  std::string_view rest = jvm;
  std::optional<std::string> type = jvm.starts_with('[') ? TakeType(rest, true) : std::nullopt;
  if (!type || !rest.empty()) return std::string(jvm);
  const bool primitive = !jvm.ends_with(';');
  std::ranges::transform(*type, type->begin(), [primitive](char c) {
    if (!primitive) return c == '.' ? '/' : c;
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  });
  return *type;
}

// Returns whether the text is the descriptor of one type, or V.
bool IsType(std::string_view text) {
  return text == "V" || (TakeType(text, /*packages=*/true) && text.empty());
}

// Returns "int, long[]" of "I[J", or nothing if it is damaged.
std::optional<std::string> Types(std::string_view descriptors, bool packages) {
  std::string list;
  while (!descriptors.empty()) {
    const std::optional<std::string> type = TakeType(descriptors, packages);
    if (!type) return std::nullopt;
    list += (list.empty() ? "" : ", ") + *type;
  }
  return list;
}

std::string Readable(std::string_view jvm, bool packages) {
  const std::string_view name = WithoutSignature(jvm);
  if (name.size() == jvm.size()) return std::string(jvm);
  const std::string_view rest = jvm.substr(name.size() + 1);
  const std::optional<std::string> types = Types(rest.substr(0, rest.find(')')), packages);
  return types ? Dotted(name) + "(" + *types + ")" : std::string(jvm);
}

}  // namespace

std::string_view WithoutSignature(std::string_view jvm) {
  const size_t open = jvm.rfind('(');
  const size_t dot = jvm.rfind('.', open);
  if (open == jvm.npos || open == 0 || dot == jvm.npos) return jvm;
  const size_t close = jvm.find(')', open);
  return close != jvm.npos && IsType(jvm.substr(close + 1)) ? jvm.substr(0, open) : jvm;
}

MethodParts PartsOfMethod(std::string_view jvm) {
  jvm = jvm.substr(0, jvm.find('('));
  const size_t dot = jvm.rfind('.');
  if (dot == jvm.npos) return {"", jvm};
  return {jvm.substr(0, dot), jvm.substr(dot + 1)};
}

std::string ReadableMethod(std::string_view jvm) { return Readable(jvm, /*packages=*/true); }

std::string MethodIn(NameForm form, std::string_view jvm) {
  if (form == NameForm::kFull) return Readable(jvm, /*packages=*/false);
  const std::string_view name = WithoutSignature(jvm);
  if (form == NameForm::kJvm || name.size() == jvm.size()) return std::string(jvm);
  return std::string(WithoutPackage(name));
}

std::string ClassIn(NameForm form, std::string_view jvm) {
  if (form == NameForm::kJvm) return ClassicClass(jvm);
  const bool packages = form == NameForm::kFull;
  if (!jvm.starts_with('[')) return packages ? Dotted(jvm) : std::string(WithoutPackage(jvm));
  std::string_view rest = jvm;
  const std::optional<std::string> type = TakeType(rest, packages);
  return type && rest.empty() ? *type : std::string(jvm);
}

}  // namespace jprof::model
