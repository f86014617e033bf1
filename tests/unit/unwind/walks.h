// Stacks as lists of addresses, for comparison.
#pragma once

#include <pthread.h>
#include <ucontext.h>
#include <unwind.h>

#include <cstdint>
#include <vector>

#include "jprof/unwind/unwinder.h"

namespace jprof::unwind {

using Pcs = std::vector<uint64_t>;

inline StackBounds OwnStack() {
  pthread_attr_t attributes;
  void* low = nullptr;
  size_t size = 0;
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstack(&attributes, &low, &size);
  pthread_attr_destroy(&attributes);
  return {reinterpret_cast<uint64_t>(low), reinterpret_cast<uint64_t>(low) + size};
}

// Walks from `registers` outwards. Allocates nothing if `room` elements suffice.
inline Unwinder::Step Walk(const Unwinder& unwinder, Registers registers, const StackBounds& stack,
                           uint64_t* out, size_t room, size_t& depth) {
  auto step = Unwinder::Step::kStepped;
  bool interrupted = true;
  for (depth = 0; depth < room && step == Unwinder::Step::kStepped; interrupted = false) {
    out[depth++] = registers.pc;
    step = unwinder.Next(registers, stack, interrupted);
  }
  return step;
}

// The results of two unwinders at one moment: the frames outside of the recording function. Has
// space for all, so that it can be filled in a signal handler.
struct Taken {
  static constexpr size_t kRoom = 16384;

  explicit Taken(const Unwinder& by) : unwinder(by) {
    ours.reserve(kRoom);
    theirs.reserve(kRoom);
  }

  const Unwinder& unwinder;
  StackBounds stack = OwnStack();
  Pcs ours, theirs;
  Unwinder::Step end = Unwinder::Step::kBad;
};

// The visitor of chains: jprof's walk and libgcc's from here. `data` is a Taken.
__attribute__((noinline)) inline void TakeBacktrace(void* data) {
  Taken& taken = *static_cast<Taken*>(data);
  ucontext_t context;
  getcontext(&context);
  size_t depth = 0;
  taken.ours.resize(Taken::kRoom);
  taken.end =
      Walk(taken.unwinder, OfSignal(&context), taken.stack, taken.ours.data(), Taken::kRoom, depth);
  taken.ours.resize(depth);
  // What backtrace() calls, which sanitizers intercept.
  const auto add = [](_Unwind_Context* frame, void* pcs) {
    if (const uint64_t pc = _Unwind_GetIP(frame)) static_cast<Pcs*>(pcs)->push_back(pc);
    return _URC_NO_REASON;
  };
  _Unwind_Backtrace(add, &taken.theirs);
  // Different places of this very function.
  taken.ours.erase(taken.ours.begin());
  taken.theirs.erase(taken.theirs.begin());
}

}  // namespace jprof::unwind
