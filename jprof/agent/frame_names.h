// From what a walk found to the words of tree nodes: Java methods, native functions, the VM's
// stubs, kernel functions and classes of objects become methods of the profile when they are first
// seen. Callable in a signal handler: see engine/samples.h. Names are kept as they can be had
// without work (a module and an address); reports resolve them.
#pragma once

#include "jprof/engine/samples.h"
#include "jprof/hotspot/stack_walker.h"
#include "jprof/unwind/kernel_functions.h"
#include "jprof/unwind/unwinder.h"

namespace jprof::agent {

constexpr bool IsJava(MethodType type) {
  return type != MethodType::kFunction && type != MethodType::kOther && type != MethodType::kNone;
}

// Words as in profile::Node.
uint32_t FrameWord(engine::Thread& thread, engine::MethodSource& java,
                   const unwind::Unwinder& unwinder, const hotspot::StackFrame& frame);
// The words of what walks of a thread find.
class ThreadNames final : public hotspot::FrameNames {
 public:
  ThreadNames(engine::Thread& thread, engine::MethodSource& java, const unwind::Unwinder& unwinder)
      : thread_(thread), java_(java), unwinder_(unwinder) {}
  uint32_t WordOf(const hotspot::StackFrame& frame) override {
    return FrameWord(thread_, java_, unwinder_, frame);
  }

 private:
  engine::Thread& thread_;
  engine::MethodSource& java_;
  const unwind::Unwinder& unwinder_;
};

// 0: the kernel's functions are not known.
uint32_t KernelWord(engine::Thread& thread, const unwind::KernelFunctions& kernel,
                    uint64_t address);
// `signature` as the VM gives it: Ljava/lang/String; or [I.
uint32_t ClassWord(engine::Thread& thread, const char* signature);

// A frame that only says something; a literal.
uint32_t NoteWord(engine::Thread& thread, const char* text);

}  // namespace jprof::agent
