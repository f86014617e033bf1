// What a stack walk finds.
#pragma once

#include <cstdint>

#include "common/method_type.h"

namespace jprof::hotspot {

struct StackFrame {
  // kInterpreted, kJitted, kRejitted, kInlined, kNative (a Java native method's wrapper): a Java
  // method. kFunction: native code. kOther: code of the VM that is not a method (a stub).
  MethodType type = MethodType::kNone;
  int32_t bci = -1;  // Java methods; -1: not known
  uint64_t method =
      0;  // Java: the Method*, readable now; kFunction: run-time start of the function, else its
          // pc; kOther: the zero-terminated name of the blob (readable as long as the VM lives)
  uint64_t pc = 0;    // of the frame; inlined frames have that of the frame they are inlined into
  uint32_t word = 0;  // what FrameNames says of it; 0: there were none
  uint32_t context = 0;  // the walk's owner may keep here what it knows of the frame and those
                         // outside it, for as long as they stay (LastStack)
};

// How a walk ended.
struct StackWalk {
  uint32_t depth = 0;       // frames found, innermost first
  uint32_t kept = 0;        // so many of the outermost are unchanged since the last walk
  bool truncated = false;   // there were more frames than room
  bool unknown = false;     // it ended at something that makes no sense: outer frames are missing
  bool is_virtual = false;  // these are a virtual thread's frames; its carrier's are left out
  bool in_heap = false;     // a virtual thread's outer frames are not on the stack: it parked, and
                            // they are brought back when they are returned to. They are missing
};

// Gives a frame its word, callable in a signal handler. The answer must follow from the type and
// the method alone and hold as long as the method does: walks of all threads remember it.
class FrameNames {
 public:
  virtual uint32_t WordOf(const StackFrame& frame) = 0;

 protected:
  ~FrameNames() = default;
};

}  // namespace jprof::hotspot
