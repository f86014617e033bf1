#include "profile/files/class_name.h"

namespace jprof::profile {

std::string_view Unnumbered(std::string_view class_name) {
  if (const size_t at = class_name.find("$$Lambda"); at != std::string_view::npos) {
    return class_name.substr(0, at + 8);
  }
  for (const std::string_view mark : {"/0x", ".0x", "+0x"}) {
    if (const size_t at = class_name.rfind(mark); at != std::string_view::npos) {
      class_name = class_name.substr(0, at);
    }
  }
  const bool generated = class_name.find("reflect/Generated") != std::string_view::npos ||
                         class_name.find("$Proxy") != std::string_view::npos;
  if (!generated) return class_name;
  for (const std::string_view numbered : {"Accessor", "$Proxy"}) {
    const size_t at = class_name.rfind(numbered);
    if (at == std::string_view::npos) continue;
    const std::string_view number = class_name.substr(at + numbered.size());
    if (number.find_first_not_of("0123456789") == std::string_view::npos) {
      return class_name.substr(0, at + numbered.size());
    }
  }
  return class_name;
}

std::string_view UnnumberedLambda(std::string_view method_name) {
  const bool is_lambda = method_name.starts_with("lambda$") ||
                         method_name.starts_with("$anonfun$") || method_name.contains("$lambda$");
  const size_t dollar = method_name.rfind('$');
  const bool is_numbered =
      is_lambda && dollar + 1 < method_name.size() &&
      method_name.find_first_not_of("0123456789", dollar + 1) == std::string_view::npos;
  return is_numbered ? method_name.substr(0, dollar + 1) : method_name;
}

}  // namespace jprof::profile
