// Names methods and sampled frames as they are printed, `pkg/Class.method(sig)ret` and
// `libc.so.6.malloc`. Each name is made once.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/frame_kind.h"
#include "model/tree/readable_name.h"
#include "profile/read/reader.h"

namespace jprof::model {

class Names {
 public:
  Names() = default;
  // Looks up native frames of samples in their modules' files, as far as these still exist. Adds
  // what cannot be read to the damages of `reader`.
  explicit Names(profile::Reader& reader);

  // Returns the name without the type letter. It is valid as long as this object.
  std::string_view Of(profile::MethodId method);
  // Returns the name in this form. Names that are not of Java methods or classes have one form. It
  // is valid as long as this object.
  std::string_view In(NameForm form, profile::MethodId method);
  size_t size() const { return texts_.size(); }  // ids below it may have a name
  bool IsStatic(profile::MethodId method) const {
    return methods_[method].flags & profile::kMethodStatic;
  }
  profile::MethodName Parts(profile::MethodId method) const { return methods_[method]; }
  // Returns whether it is a native frame whose function is not known by name.
  bool IsUnnamed(profile::MethodId method) const {
    return IndexOf(method) < unnamed_.size() && unnamed_[IndexOf(method)];
  }

  // Returns the kind of a frame of this method. The method's record decides on kernel and native
  // functions, stubs and classes of objects; in other cases it is the kind in the node.
  FrameKind KindOf(profile::MethodId method, FrameKind in_node) const;
  // Returns the letter of that kind.
  char LetterOf(profile::MethodId method, FrameKind in_node, bool static_letters) const;
  // Returns what reports print before a name: "J:", or "--" before a class of objects.
  std::string Mark(profile::MethodId method, FrameKind in_node, bool static_letters) const;

  // Returns the method that represents all addresses of one native function, which are methods of
  // their own in the file.
  profile::MethodId Canonical(profile::MethodId method) const {
    const uint32_t index = IndexOf(method);
    return index < canonical_.size() ? canonical_[index] : method;
  }
  bool has_aliases() const { return !canonical_.empty(); }

 private:
  void NameNativeFrames(profile::Damages& damages);
  std::string Made(const profile::MethodName& parts) const;
  std::string Converted(NameForm form, profile::MethodId method);

  profile::Methods methods_;
  std::vector<std::string> texts_;
  std::array<std::vector<std::string>, 3> converted_;  // by NameForm
  std::vector<profile::MethodId> canonical_;           // empty if there are no native frames
  std::vector<bool> unnamed_;                          // likewise
  std::unordered_map<uint32_t, std::string> unknown_;  // by index
};

// Returns a record's type letter as calibration keys have it: lower case if static, O for overflow.
char KeyLetter(profile::MethodRef ref, const Names& names);

}  // namespace jprof::model
