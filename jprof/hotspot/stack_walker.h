// Whole stacks of Java threads: native, stubs, interpreted, C1, C2 and inlined frames in one chain,
// read out of HotSpot's own structures (VmStructs) and, below and above Java, by jprof/unwind. No
// VM call: also where AsyncGetCallTrace gives up, and never at safepoints only.
//
// Callable in a signal handler on the walked thread itself, anywhere: no lock, no allocation, no
// system call on the usual path, no thread-local storage; what it reads may be nonsense (a stack in
// the middle of being changed, a freed method), so every address that is not on the stack or known
// good is checked before it is read. A frame that makes no sense ends the walk and is told; nothing
// is guessed.
#pragma once

#include <cstdint>

#include "common/result.h"
#include "jprof/hotspot/last_stack.h"
#include "jprof/hotspot/stack_frame.h"
#include "jprof/hotspot/vm_structs.h"
#include "jprof/unwind/unwinder.h"

namespace jprof::hotspot {

class StackWalker {
 public:
  // An error says what this VM lacks. The unwinder outlives the walker.
  static Result<StackWalker> Open(const VmStructs& structs, const unwind::Unwinder& unwinder);

  // The VM's thread behind a JNIEnv (JavaThread*), which the walks below want. 0: this build does
  // not tell. Asked the first time on the JNIEnv's own thread: where in a JavaThread its JNIEnv
  // lies is not told by the VM, so the object is recognised around it, by its native thread's id
  // and its stack's bounds; then that distance is known for good.
  uint64_t VmThreadOf(const void* jni_env) const;

  // From where a signal interrupted the thread. vm_thread 0: a thread that is no Java thread:
  // native frames only.
  StackWalk Walk(const unwind::Registers& registers, const unwind::StackBounds& stack,
                 uint64_t vm_thread, StackFrame* out, uint32_t room) const;
  // The same from the third argument of the signal handler, which tells more: in the interpreter
  // the bytecode of the innermost frame, and the caller where a method's frame is about to be made
  // or just gone.
  StackWalk WalkSignal(const void* ucontext, const unwind::StackBounds& stack, uint64_t vm_thread,
                       StackFrame* out, uint32_t room) const;
  // The same with memory: what return addresses stand for is decoded once (ReturnFacts), and the
  // walk ends where it comes to the part of the thread's last stack that nothing has changed. The
  // frames are in `last`, named by `names`: always the same one.
  StackWalk WalkSignal(const void* ucontext, const unwind::StackBounds& stack, uint64_t vm_thread,
                       FrameNames& names, LastStack& last) const;
  // From the last Java frame, of a thread that is in the VM or in native code (a JVMTI callback):
  // Java frames only, down to the first one that Java called from native code and beyond, through
  // all entries.
  StackWalk WalkJava(const unwind::StackBounds& stack, uint64_t vm_thread, StackFrame* out,
                     uint32_t room, FrameNames* names = nullptr) const;

 private:
  StackWalker() = default;
  // Offsets and addresses found by Open.
  struct Layout;
  const Layout* layout_ = nullptr;  // lives for ever
  const unwind::Unwinder* unwinder_ = nullptr;
};

}  // namespace jprof::hotspot
