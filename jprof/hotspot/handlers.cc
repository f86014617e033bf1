#include "jprof/hotspot/handlers.h"

#include "jprof/engine/events.h"

namespace jprof::hotspot {
namespace {

int64_t continuation_offset = 0;

template <bool kVirtualThreads>
uint64_t Continuation(const char* java_thread) {
  if constexpr (!kVirtualThreads) return 0;
  return *reinterpret_cast<const uint64_t*>(java_thread + continuation_offset);
}

// The return address lies in the code that was compiled for the method; the stack pointer before
// the call in its frame. Both cost nothing to know.
template <class R, bool kVirtualThreads>
int OnEntry(char* java_thread, void* method) {
  return engine::Enter<R>(
      reinterpret_cast<uint64_t>(method), reinterpret_cast<uint64_t>(__builtin_dwarf_cfa()),
      reinterpret_cast<uint64_t>(__builtin_return_address(0)),
      Continuation<kVirtualThreads>(java_thread), reinterpret_cast<uint64_t>(java_thread));
}

template <class R, bool kVirtualThreads>
int OnExit(char* java_thread, void* method) {
  return engine::Leave<R>(
      reinterpret_cast<uint64_t>(method), reinterpret_cast<uint64_t>(__builtin_dwarf_cfa()),
      reinterpret_cast<uint64_t>(__builtin_return_address(0)),
      Continuation<kVirtualThreads>(java_thread), reinterpret_cast<uint64_t>(java_thread));
}

template <class R>
Handlers Choose(bool virtual_threads) {
  if (virtual_threads) return {OnEntry<R, true>, OnExit<R, true>};
  return {OnEntry<R, false>, OnExit<R, false>};
}

template <class R>
Handlers Choose(bool virtual_threads, bool train) {
  return train ? Choose<engine::CounterTraining<R>>(virtual_threads) : Choose<R>(virtual_threads);
}

}  // namespace

Handlers HandlersFor(Recording recording, bool train, int64_t offset) {
  continuation_offset = offset;
  const bool virtual_threads = offset >= 0;
  switch (recording) {
    case Recording::kCounts:
      return Choose<engine::CountTree>(virtual_threads);
    case Recording::kTrace:
      return Choose<engine::TimeTrace>(virtual_threads);
    case Recording::kOneCounter:
      return Choose<engine::OneCounter>(virtual_threads, train);
    case Recording::kTwoCounters:
      return Choose<engine::TwoCounters>(virtual_threads, train);
    case Recording::kManyCounters:
      return Choose<engine::ManyCounters>(virtual_threads, train);
    case Recording::kTimeAndOneCounter:
      return Choose<engine::TimeAndOneCounter>(virtual_threads, train);
    case Recording::kTimeAndCounters:
      return Choose<engine::TimeAndCounters>(virtual_threads, train);
    case Recording::kTime:
      break;
  }
  return train ? Choose<engine::TrainTree>(virtual_threads) : Choose<engine::TimeTree>(virtual_threads);
}

}  // namespace jprof::hotspot
