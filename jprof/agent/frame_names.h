// Maps the frames of stacks to the method references of tree nodes. Java methods, native functions,
// stubs of the VM, kernel functions and classes of objects are added to the profile's methods at
// their first use. Callable in a signal handler: see engine/samples.h. Native names are recorded as
// a module and an address; reports resolve them.
#pragma once

#include "jprof/engine/samples.h"
#include "jprof/hotspot/stack_walker.h"
#include "jprof/unwind/kernel_functions.h"
#include "jprof/unwind/unwinder.h"

namespace jprof::agent {

constexpr bool IsJava(MethodType type) {
  return type != MethodType::kFunction && type != MethodType::kOther && type != MethodType::kNone;
}

// All return a method reference as in profile::Node::word.
uint32_t FrameReference(engine::Thread& thread, engine::MethodSource& java,
                        const unwind::Unwinder& unwinder, const hotspot::StackFrame& frame);
// The method references of the frames of one thread.
class ThreadNames final : public hotspot::FrameNames {
 public:
  ThreadNames(engine::Thread& thread, engine::MethodSource& java, const unwind::Unwinder& unwinder)
      : thread_(thread), java_(java), unwinder_(unwinder) {}
  uint32_t WordOf(const hotspot::StackFrame& frame) override {
    return FrameReference(thread_, java_, unwinder_, frame);
  }

 private:
  engine::Thread& thread_;
  engine::MethodSource& java_;
  const unwind::Unwinder& unwinder_;
};

// Returns 0 if the kernel's functions are not known.
uint32_t KernelReference(engine::Thread& thread, const unwind::KernelFunctions& kernel,
                         uint64_t address);
// `signature`: as the VM returns it, Ljava/lang/String; or [I.
uint32_t ClassReference(engine::Thread& thread, const char* signature);

// A frame that is a note for the reader. `text`: a string literal.
uint32_t NoteReference(engine::Thread& thread, const char* text);

}  // namespace jprof::agent
