// Defines the result of a stack walk.
#pragma once

#include <cstdint>

#include "common/frame_kind.h"
#include "profile/files/layout.h"

namespace jprof::hotspot {

struct StackFrame {
  // kInterpreted, kJitted, kRejitted, kInlined and kNative (a Java native method's wrapper) are
  // Java methods. kFunction is native code. kOther is code of the VM that is not a method (a stub).
  FrameKind type = FrameKind::kNone;
  int32_t bci = -1;  // of Java methods; -1 if it is not known
  // The Method* of a Java method, which is currently readable. For kFunction the run-time start of
  // the function, or the frame's pc if it is not known. For kOther the zero-terminated name of the
  // blob, which is readable as long as the VM exists.
  uint64_t method = 0;
  uint64_t pc = 0;           // inlined frames have that of the frame they are inlined into
  profile::MethodRef ref{};  // from FrameNames; kNoMethodRef without
  // Data that the owner of the walk attaches to the frame and its callers. It is kept while they
  // are unchanged (LastStack).
  uint32_t context = 0;
};

// The result of a walk besides its frames.
struct StackWalk {
  uint32_t depth = 0;       // number of frames, innermost first
  uint32_t kept = 0;        // number of outermost frames unchanged since the last walk
  bool truncated = false;   // there were more frames than space
  bool unknown = false;     // it ended at something invalid, and outer frames are missing
  bool is_virtual = false;  // these are a virtual thread's frames, without those of its carrier
  // Is true if the outer frames of a virtual thread are missing: it parked, and they are in the
  // heap until the thread returns to them.
  bool in_heap = false;
};

// Resolves the method reference of a frame. Can be called in a signal handler. The result must
// depend only on the type and the method, and must remain valid as long as the method exists: walks
// of all threads cache it.
class FrameNames {
 public:
  virtual profile::MethodRef RefOf(const StackFrame& frame) = 0;

 protected:
  ~FrameNames() = default;
};

}  // namespace jprof::hotspot
