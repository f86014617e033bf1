// The result of a stack walk.
#pragma once

#include <cstdint>

#include "common/method_type.h"

namespace jprof::hotspot {

struct StackFrame {
  // kInterpreted, kJitted, kRejitted, kInlined, kNative (a Java native method's wrapper): a Java
  // method. kFunction: native code. kOther: code of the VM that is not a method (a stub).
  MethodType type = MethodType::kNone;
  int32_t bci = -1;  // Java methods; -1: not known
  // Java: the Method*, currently readable. kFunction: run-time start of the function, else its pc.
  // kOther: the zero-terminated name of the blob, readable as long as the VM exists.
  uint64_t method = 0;
  uint64_t pc = 0;    // of the frame; inlined frames have that of the frame they are inlined into
  uint32_t word = 0;  // the method reference from FrameNames; 0: no FrameNames
  // For the owner of the walk: data about the frame and its callers, kept while they are unchanged
  // (LastStack).
  uint32_t context = 0;
};

// The result of a walk besides its frames.
struct StackWalk {
  uint32_t depth = 0;       // number of frames, innermost first
  uint32_t kept = 0;        // number of outermost frames unchanged since the last walk
  bool truncated = false;   // there were more frames than space
  bool unknown = false;     // it ended at something invalid: outer frames are missing
  bool is_virtual = false;  // these are a virtual thread's frames, without those of its carrier
  // The outer frames of a virtual thread are missing: it parked, and they are in the heap until the
  // thread returns to them.
  bool in_heap = false;
};

// Resolves the method reference of a frame. Callable in a signal handler. The result must depend
// only on the type and the method, and must hold as long as the method exists: walks of all threads
// cache it.
class FrameNames {
 public:
  virtual uint32_t WordOf(const StackFrame& frame) = 0;

 protected:
  ~FrameNames() = default;
};

}  // namespace jprof::hotspot
