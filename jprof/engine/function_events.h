// Describes the events of functions of C and C++, which come from hooks and sleds (hookit/). They
// are handled as those of Java methods are (events.h): by Enter<Recording, FunctionFrames>, or with
// SledFrames. They differ in two ways:
//
// - They belong to whatever virtual thread is mounted.
// - They may interrupt an event of the same thread, in a signal handler.
#pragma once

#include <cstdint>

#include "jprof/engine/event.h"
#include "jprof/engine/thread.h"

// Calls `function` with the six arguments and returns its result. Keeps the vector registers. It is
// defined where sleds are (hookit/).
extern "C" int jprof_with_vectors_kept(uint64_t method, uint64_t sp, uint64_t return_address,
                                       uint64_t continuation, uint64_t vm_thread, int64_t now,
                                       jprof::engine::ColdFunction function);

namespace jprof::engine {

// No greater number represents a function in place of its address (hookit/sleds.h): linkers place
// programs above.
inline constexpr uint64_t kMostFunctionNumbers = (4 << 20) - 1;
// Returns whether a method of FunctionEvent has a number.
inline bool HasNumber(uint64_t method) { return method - kFunctionBit <= kMostFunctionNumbers; }

// Returns the stack pointer below which frames no longer exist at an entry, or at an exit without a
// frame. A frame of a function at the stack pointer of one with sleds has left by a jump to it.
inline uint64_t HealingPoint(const Event& event) {
  return HasNumber(event.method) ? event.sp + 1 : event.sp;
}

// Returns an event of a function, which is given by its address or by its number.
[[gnu::always_inline]] inline Event FunctionEvent(uint64_t function, uint64_t sp) {
  return {.method = function | kFunctionBit,
          .sp = sp,
          .return_address = 0,
          .continuation = 0,
          .vm_thread = 0};
}

// Describes frames of functions with hooks. An inlined function has the stack pointer of the
// function that contains it.
struct FunctionFrames : JavaFrames {
  static constexpr bool kInterrupted = true;
  [[gnu::always_inline]] static bool IsCallee(uint64_t sp, const Frame& frame) {
    return sp <= frame.sp;
  }
  [[gnu::always_inline]] static bool IsCurrent(const Event&, const Thread&) { return true; }
  [[gnu::always_inline]] static Event WithMountedThread(Event event, const Thread* thread) {
    event.continuation = thread != nullptr ? thread->continuation : 0;
    return event;
  }
};

// Describes frames of functions with sleds (XRay). Each function has its own stack pointer, and all
// registers may contain the program's values when the event occurs. The fast path is compiled
// without vector registers; what is outside of it is called so that it keeps them.
struct SledFrames : FunctionFrames {
  [[gnu::always_inline]] static bool IsCallee(uint64_t sp, const Frame& frame) {
    return JavaFrames::IsCallee(sp, frame);
  }
  [[gnu::always_inline]] static int Call(ColdFunction function, const Event& e, int64_t now) {
    return jprof_with_vectors_kept(e.method, e.sp, e.return_address, e.continuation, e.vm_thread,
                                   now, function);
  }
};

// Ends the frames of functions below `sp`, which were left without an exit: by longjmp, or by an
// exception. Call this with the stack pointer at the place where the thread continues.
void HealFunctions(uint64_t sp);

}  // namespace jprof::engine
