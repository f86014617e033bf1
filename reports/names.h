// How methods print: `pkg/Class.method(sig)ret`, made once a method.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profile/reader.h"

namespace jprof::reports {

class Names {
 public:
  Names() = default;
  explicit Names(profile::Methods methods) : methods_(std::move(methods)), texts_(methods_.size()) {}

  // Without the type letter. Valid until this object goes.
  std::string_view Of(uint32_t method);
  size_t size() const { return texts_.size(); }  // ids below it may have a name
  bool IsStatic(uint32_t method) const { return methods_[method].flags & profile::kMethodStatic; }
  profile::MethodName Parts(uint32_t method) const { return methods_[method]; }

 private:
  profile::Methods methods_;
  std::vector<std::string> texts_;
  std::string unknown_;
};

// A record's type letter as calibration keys have it: lower case if static, O for overflow.
char KeyLetter(uint32_t word, const Names& names);

}  // namespace jprof::reports
