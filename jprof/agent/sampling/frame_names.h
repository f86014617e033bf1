// Maps the frames of stacks to the method references of tree nodes. Java methods, native functions,
// stubs of the VM, kernel functions and classes of objects are added to the profile's methods at
// their first use. Native names are recorded as a module and an address, which reports resolve. All
// functions can be called in a signal handler: see engine/samples.h.
#pragma once

#include "jprof/engine/samples.h"
#include "jprof/hotspot/vm/vm.h"
#include "jprof/hotspot/walk/stack_walker.h"
#include "jprof/unwind/kernel_functions.h"
#include "jprof/unwind/unwinder.h"

namespace jprof::agent {

constexpr bool IsJava(FrameKind type) {
  return type != FrameKind::kFunction && type != FrameKind::kOther && type != FrameKind::kNone;
}

// Returns the method reference of a frame.
profile::MethodRef FrameReference(engine::Thread& thread, engine::MethodSource& java,
                                  const unwind::Unwinder& unwinder,
                                  const hotspot::StackFrame& frame);
// Returns the method reference of the bytecode at which a frame is, or kNoMethodRef if it is not
// known.
profile::MethodRef SiteReference(engine::Thread& thread, hotspot::Sites& sites,
                                 const hotspot::StackFrame& frame);
// Maps the frames of one thread to method references.
class ThreadNames final : public hotspot::FrameNames {
 public:
  ThreadNames(engine::Thread& thread, engine::MethodSource& java, const unwind::Unwinder& unwinder)
      : thread_(thread), java_(java), unwinder_(unwinder) {}
  profile::MethodRef RefOf(const hotspot::StackFrame& frame) override {
    return FrameReference(thread_, java_, unwinder_, frame);
  }

 private:
  engine::Thread& thread_;
  engine::MethodSource& java_;
  const unwind::Unwinder& unwinder_;
};

// Returns the method reference of a kernel function, or kNoMethodRef if the kernel's functions are
// not known.
profile::MethodRef KernelReference(engine::Thread& thread, const unwind::KernelFunctions& kernel,
                                   uint64_t address);
// Returns the method reference of a class. `signature` is as the VM returns it, for example
// Ljava/lang/String; or [I.
profile::MethodRef ClassReference(engine::Thread& thread, const char* signature);

// Returns the method reference of a frame that is a note for the reader. `text` must be a
// string literal.
profile::MethodRef NoteReference(engine::Thread& thread, const char* text);

}  // namespace jprof::agent
