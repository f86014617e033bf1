// Walks whole stacks of Java threads: native, stub, interpreted, C1, C2 and inlined frames in one
// chain. Java frames are read from HotSpot's own structures (VmStructs), and native frames below
// and above them by jprof/unwind.
//
// - It calls no function of the VM. It also works where AsyncGetCallTrace fails, and not only
//   at safepoints.
// - It can be called in a signal handler on the walked thread itself, anywhere: it takes no lock,
//   does not allocate, makes no system call on the usual path, and uses no thread-local storage.
// - The memory may be invalid (a stack that is being changed, a freed method), so every address
//   that is not on the stack or known to be readable is checked before it is read.
// - An invalid frame ends the walk, which reports so (StackWalk::unknown); nothing is guessed.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "common/result.h"
#include "jprof/hotspot/vm/memory_reader.h"
#include "jprof/hotspot/vm/vm_structs.h"
#include "jprof/hotspot/walk/last_stack.h"
#include "jprof/hotspot/walk/stack_frame.h"
#include "jprof/unwind/unwinder.h"

namespace jprof::hotspot {

class StackWalker {
 public:
  // Opens a walker. An error states what this VM lacks. The unwinder must outlive the walker.
  // `source`, if not null, is walked instead of the live process (tests and tools).
  static Result<StackWalker> Open(const VmStructs& structs, const unwind::Unwinder& unwinder,
                                  MemorySource* source = nullptr);

  // Returns the VM's thread of a JNIEnv (JavaThread*), which the walks below require, or 0 if it is
  // not found. The first call must be on the JNIEnv's own thread: the VM does not export the offset
  // of the JNIEnv in a JavaThread, so the object is searched around it, and recognised by its
  // native thread's id and its stack's bounds. The offset is kept.
  uint64_t VmThreadOf(const void* jni_env) const;

  // Walks from the registers at an interruption. `vm_thread` is 0 if this is not a Java thread;
  // then only native frames are walked.
  StackWalk Walk(const unwind::Registers& registers, const unwind::StackBounds& stack,
                 uint64_t vm_thread, StackFrame* out, uint32_t room) const;
  // Walks from the third argument of the signal handler, which has more registers. In the
  // interpreter they give the bytecode of the innermost frame, and the caller where a method's
  // frame is not yet complete or was just removed.
  StackWalk WalkSignal(const void* ucontext, const unwind::StackBounds& stack, uint64_t vm_thread,
                       StackFrame* out, uint32_t room) const;
  // Does the same with a cache: return addresses are decoded once (ReturnSites), and the walk ends
  // where it reaches the unchanged part of the thread's last stack. The frames are in `last`, with
  // method references from `names`, which must be the same object in all calls.
  StackWalk WalkSignal(const void* ucontext, const unwind::StackBounds& stack, uint64_t vm_thread,
                       FrameNames& names, LastStack& last) const;
  // Walks from the last Java frame of a thread that is in the VM or in native code (a JVMTI
  // callback). The result has Java frames only, through all entries from native code.
  StackWalk WalkJava(const unwind::StackBounds& stack, uint64_t vm_thread, StackFrame* out,
                     uint32_t room, FrameNames* names = nullptr) const;

  // Walks from a return address in generated code, of the calling thread, to the caller: the first
  // two frames of the result are Java methods, if both are generated code. Returns their number, 0
  // to `room`, which may be greater if methods are inlined. Decodes return addresses once.
  uint32_t WalkCaller(const unwind::Registers& registers, uint64_t vm_thread, FrameNames& names,
                      StackFrame* out, uint32_t room) const;

  // Finds the methods (Method*) that C2 has inlined into each other at an interrupted
  // instruction, innermost first. Returns their number, or 0 if it is not C2's code. Those
  // without space are omitted.
  uint32_t OptimisedMethods(uint64_t pc, std::span<uint64_t> out) const;

 private:
  StackWalker() = default;

  struct Shared;
  std::shared_ptr<const Shared> shared_;
  const unwind::Unwinder* unwinder_ = nullptr;
};

}  // namespace jprof::hotspot
