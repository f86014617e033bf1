// Describes an event as a probe or a hook sees it, and declares the functions that handle any
// event.
#pragma once

#include <cstdint>
#include <string_view>

#include "common/frame_kind.h"
#include "jprof/engine/thread.h"

namespace jprof::engine {

// Identifies the cost of an event. Increment it when the cost changes: calibration tables that were
// trained with another version do not apply.
inline constexpr int kHandlerVersion = 5;

// Contains what is known where the event occurs.
struct Event {
  uint64_t method;          // handle of the VM
  uint64_t sp;              // stack pointer at the probe, or kNoStack if it is not known
  uint64_t return_address;  // of the probe
  uint64_t continuation;    // the VM's mark of a mounted virtual thread, or 0
  uint64_t vm_thread;
};
inline constexpr uint64_t kNoStack = 0;

// Handle an event in all cases. `now` is the early clock read, or 0 without a clock. They are
// instantiated in events.cc.
// `site` identifies for MethodSources::sites where the method is called, or is 0 if this is not
// known; only kinds with kSites use it. Its bits from 16 on are the handle of the caller.
template <class Recording>
void EnterSlow(const Event& event, int64_t now, uint64_t site = 0);
template <class Recording>
void LeaveSlow(const Event& event, int64_t now);

// Sets the label with this text in the method that runs on the calling thread. A text without data
// ends the label that this method has set. Kinds of recording without a tree, and those with
// kSites, ignore it.
template <class Recording>
void SetLabel(std::string_view text);

// Counts a mark with this text in the context that runs on the calling thread, or writes it into
// the trace. Kinds of recording with kSites ignore it.
template <class Recording>
void Mark(std::string_view text);

// Counts an event of a signal handler that interrupted RareWork of its thread, or the writing of a
// trace's event.
void DropEvent();

// Handles an event that has left the fast path. It takes the event as separate arguments: the
// handlers leave by a tail call, with each value still in its argument register. An Event would be
// stored on the stack at each event, which once cost 1.5 ns (docs/ARCHITECTURE.md).
using ColdFunction = int (*)(uint64_t method, uint64_t sp, uint64_t return_address,
                             uint64_t continuation, uint64_t vm_thread, int64_t now);

// States what the source of an event knows about frames, for Java methods. Other sources have types
// with the same members.
struct JavaFrames {
  // Whether functions with hooks may run in a signal handler that interrupts the event.
  static constexpr bool kInterrupted = false;

  // Returns whether a stack pointer is that of a callee of `frame`.
  [[gnu::always_inline]] static bool IsCallee(uint64_t sp, const Frame& frame) {
    return sp < frame.sp;
  }
  // Returns whether the event belongs to the thread's current timeline.
  [[gnu::always_inline]] static bool IsCurrent(const Event& event, const Thread& thread) {
    return event.continuation == thread.continuation;
  }
  // Returns the event as the general versions expect it, with the virtual thread to which it
  // belongs. `thread` may be null.
  [[gnu::always_inline]] static Event WithMountedThread(const Event& event, const Thread*) {
    return event;
  }
  // Calls a cold function.
  [[gnu::always_inline]] static int Call(ColdFunction function, const Event& e, int64_t now) {
    return function(e.method, e.sp, e.return_address, e.continuation, e.vm_thread, now);
  }
};
// Does the same where functions of C and C++ have hooks.
struct JavaFramesBesideHooks : JavaFrames {
  static constexpr bool kInterrupted = true;
};

}  // namespace jprof::engine
