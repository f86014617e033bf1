// Defines the functions that the probes jump to (handlers.h). The handlers of sessions with gates
// are compiled apart (gated_handlers.cc), so that they do not affect how the compiler arranges the
// others.
#pragma once

#include "jprof/engine/events.h"
#include "jprof/hotspot/probe/caller_sites.h"
#include "jprof/hotspot/probe/handlers.h"
#include "jprof/hotspot/probe/probe_globals.h"

namespace jprof::hotspot {
// Without a name, so that each file has handlers of its own.
namespace {

// Returns a value that changes when another virtual thread is mounted. The address of the
// continuation's entry on the stack is often the same for the next virtual thread. It suffices
// where the scheduler's own methods, which run in between without a continuation, are recorded.
template <bool kVirtualThreads, bool kFocused>
uint64_t Continuation(const char* java_thread) {
  if constexpr (!kVirtualThreads) return 0;
  const auto entry =
      *reinterpret_cast<const uint64_t*>(java_thread + probe_globals.marks.continuation);
  if constexpr (!kFocused) return entry;
  return entry != 0 ? *reinterpret_cast<const uint64_t*>(java_thread + probe_globals.marks.identity)
                    : 0;
}

// Returns whether the method is out of focus. Compiled code calls the handlers only for methods in
// focus, the interpreter for all.
template <bool kFocused>
[[gnu::always_inline]] inline bool OutOfFocus(void* method, uint64_t return_address,
                                              uint64_t continuation) {
  if constexpr (!kFocused) return false;
  return return_address - probe_globals.interpreter_begin < probe_globals.interpreter_bytes &&
         engine::IsIgnored(reinterpret_cast<uint64_t>(method), continuation);
}

// Returns whether the event is outside of what the session is limited to, before the clock is read.
template <class Frames, EventKind kKind, bool kGated>
[[gnu::always_inline]] inline bool OutsideOfGates(const engine::Event& event) {
  if constexpr (!kGated) return false;
  return engine::IsOff<Frames, kKind>(event);
}

// Records an entry. The return address is in the code of the entered method, and the stack pointer
// before the call is in its frame. Both are available at no cost.
template <class R, class Frames, bool kVirtualThreads, bool kFocused, bool kGated>
int OnEntry(char* java_thread, void* method) {
  const auto return_address = reinterpret_cast<uint64_t>(__builtin_return_address(0));
  const uint64_t continuation = Continuation<kVirtualThreads, kFocused>(java_thread);
  if (OutOfFocus<kFocused>(method, return_address, continuation)) return 0;
  const engine::Event event = {.method = reinterpret_cast<uint64_t>(method),
                               .sp = reinterpret_cast<uint64_t>(__builtin_dwarf_cfa()),
                               .return_address = return_address,
                               .continuation = continuation,
                               .vm_thread = reinterpret_cast<uint64_t>(java_thread)};
  if (OutsideOfGates<Frames, EventKind::kEntry, kGated>(event)) return 0;
  if constexpr (R::kSites) {
    const auto fp = *static_cast<const uint64_t*>(__builtin_frame_address(0));
    return engine::EnterAtSite<R>(event, probe_globals.callers->Of(event, fp));
  } else {
    return engine::Enter<R, Frames>(event);
  }
}

template <class R, class Frames, bool kVirtualThreads, bool kFocused, bool kGated>
int OnExit(char* java_thread, void* method) {
  const auto return_address = reinterpret_cast<uint64_t>(__builtin_return_address(0));
  const uint64_t continuation = Continuation<kVirtualThreads, kFocused>(java_thread);
  if (OutOfFocus<kFocused>(method, return_address, continuation)) return 0;
  const engine::Event event = {.method = reinterpret_cast<uint64_t>(method),
                               .sp = reinterpret_cast<uint64_t>(__builtin_dwarf_cfa()),
                               .return_address = return_address,
                               .continuation = continuation,
                               .vm_thread = reinterpret_cast<uint64_t>(java_thread)};
  if (OutsideOfGates<Frames, EventKind::kExit, kGated>(event)) return 0;
  return engine::Leave<R, Frames>(event);
}

template <class R, class Frames, bool kFocused, bool kGated>
Handlers ChooseThreads() {
  if (probe_globals.marks.continuation >= 0)
    return {OnEntry<R, Frames, true, kFocused, kGated>, OnExit<R, Frames, true, kFocused, kGated>};
  return {OnEntry<R, Frames, false, kFocused, kGated>, OnExit<R, Frames, false, kFocused, kGated>};
}

}  // namespace
}  // namespace jprof::hotspot
