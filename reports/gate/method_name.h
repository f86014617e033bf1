// Divides the name of a method as trees have it, "pkg/Class.method(I)V".
#pragma once

#include <string_view>

namespace jprof::reports {

struct MethodParts {
  std::string_view class_name, name;
};

// Returns the class and the method without its descriptor. What has no class is only a method.
inline MethodParts PartsOfMethod(std::string_view text) {
  text = text.substr(0, text.find('('));
  const size_t dot = text.rfind('.');
  if (dot == std::string_view::npos) return {"", text};
  return {text.substr(0, dot), text.substr(dot + 1)};
}

}  // namespace jprof::reports
