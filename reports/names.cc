#include "reports/names.h"

#include "profile/reader_text.h"

namespace jprof::reports {

std::string_view Names::Of(uint32_t method) {
  if (method < texts_.size() && !texts_[method].empty()) return texts_[method];
  if (method == profile::kOverflowMethod) return "(overflow)";
  const profile::MethodName parts = methods_[method];
  if (method >= texts_.size() || parts.name.empty()) {
    unknown_ = fmt::format("(unknown method {})", method);
    return unknown_;
  }
  return texts_[method] = profile::CleanText(parts.class_name) + "." + profile::CleanText(parts.name) +
                          profile::CleanText(parts.signature);
}

char KeyLetter(uint32_t word, const Names& names) {
  const uint32_t method = profile::MethodOf(word);
  if (method == profile::kOverflowMethod) return Letter(MethodType::kOther);
  return Letter(profile::TypeOf(word), names.IsStatic(method));
}

}  // namespace jprof::reports
