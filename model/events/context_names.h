// Names the calling contexts that events contain: nodes of the profiles that were recorded at the
// same time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "model/tree/names.h"
#include "model/tree/source.h"

namespace jprof::model {

class ContextNames {
 public:
  // Names the nodes of a process's profile, which must exist as long as this object. Without any
  // profile there are no names.
  void Add(Source& source);

  bool empty() const { return profiles_.empty(); }

  // Returns "Type.method < Type.caller < ...", the innermost first, with at most `frames` names; an
  // empty text if the node is not known.
  std::string PathOf(uint32_t process, uint64_t node, NameForm form, size_t frames);

  // Returns the methods of a context, the innermost first, without the root.
  std::vector<profile::MethodId> MethodsOf(uint32_t process, uint64_t node);

  // Returns the name of one of these methods, without a type letter.
  std::string_view NameOf(uint32_t process, profile::MethodId method);

  // Returns the class and method of the innermost one, "java/lang/Thread.sleep0", without types.
  std::string LeafOf(uint32_t process, uint64_t node);

  // Returns the name that the profile has for a thread, or an empty text.
  std::string ThreadName(uint32_t process, uint32_t tid) const;

 private:
  struct Profile {
    Source* source;
    Names names;
    profile::ReaderFile nodes;
    std::unordered_map<uint64_t, profile::Node> known;
    const profile::Node* Node(uint64_t index);
  };
  std::string MakePath(uint32_t process, uint64_t node, NameForm form, size_t frames);

  std::map<uint32_t, Profile> profiles_;  // by process
  // Many stretches end in the same context. It is emptied where it has many bytes.
  std::map<std::tuple<uint32_t, uint64_t, NameForm, size_t>, std::string> paths_;
  size_t path_bytes_ = 0;
};

}  // namespace jprof::model
