// How methods and sampled frames print: `pkg/Class.method(sig)ret`, `libc.so.6.malloc`, made once
// each.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/method_type.h"
#include "profile/reader.h"

namespace jprof::reports {

class Names {
 public:
  Names() = default;
  // Native frames of samples are looked up in their modules' files, as far as these are still
  // there. What could not be read is added to the damages of `reader`.
  explicit Names(profile::Reader& reader);

  // Without the type letter. Valid until this object goes.
  std::string_view Of(profile::MethodId method);
  size_t size() const { return texts_.size(); }  // ids below it may have a name
  bool IsStatic(profile::MethodId method) const {
    return methods_[method].flags & profile::kMethodStatic;
  }
  profile::MethodName Parts(profile::MethodId method) const { return methods_[method]; }

  // The letter that a frame of this method and type prints with; K kernel, F native function, O
  // stub, - class of objects where the record says so.
  char LetterOf(profile::MethodId method, MethodType type, bool static_letters) const;
  // What reports put before a name: "J:", or "--" before a class of objects.
  std::string Mark(profile::MethodId method, MethodType type, bool static_letters) const;

  // Addresses of one native function are methods of their own in the file: the one that stands for
  // all of them.
  profile::MethodId Canonical(profile::MethodId method) const {
    const uint32_t index = IndexOf(method);
    return index < canonical_.size() ? canonical_[index] : method;
  }
  bool has_aliases() const { return !canonical_.empty(); }

 private:
  void NameNativeFrames(profile::Damages& damages);
  std::string Made(const profile::MethodName& parts) const;

  profile::Methods methods_;
  std::vector<std::string> texts_;
  std::vector<profile::MethodId> canonical_;  // empty: no native frames
  std::string unknown_;
};

// A record's type letter as calibration keys have it: lower case if static, O for overflow.
char KeyLetter(uint32_t word, const Names& names);

}  // namespace jprof::reports
