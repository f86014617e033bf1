// Reads the events of the kernel, processor by processor, before it is known which threads the
// kernel's ids meant when (stretches.h). Times are those of CLOCK_MONOTONIC.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "events/read/trace.h"
#include "model/events/stretches.h"

namespace jprof::model {

inline constexpr size_t kMostCounters = 4;

// A thread that is ready to run.
struct Wakeup {
  uint64_t time;
  uint32_t waker;  // the kernel's id; kInterrupt
};

// A stretch as its processor's records have it: with the kernel's id of the thread, and times of
// CLOCK_MONOTONIC.
struct PendingStretch {
  Stretch stretch;
  uint32_t process = 0, tid = 0;
  uint64_t first_end = 0;    // of a system call that had begun before it
  bool has_calls = false;    // a call began or ended in it
  uint64_t decided = 0;      // of its begin, by the kernel's own clock; 0 if it is not known
  size_t before = SIZE_MAX;  // the stretch before it on this processor
};

// A thread that was made.
struct Making {
  uint64_t time = 0;
  uint32_t maker = kNoThread;  // the kernel's id of the thread that made it
};

// The name of a thread from a time on.
struct NamedThread {
  uint64_t time = 0;
  uint32_t process = 0, tid = 0;
  std::string text;
};

struct KernelRecords {
  uint64_t count = 0;
  uint64_t misdated = 0;  // with a time that is far from the others: they are left out
  uint64_t first = UINT64_MAX, last = 0;  // times
  uint32_t processors = 0;
  bool has_calls = false;
  std::vector<PendingStretch>
      stretches;  // those of a processor in their order; idle ones have tid 0
  std::vector<std::array<uint64_t, kMostCounters>> counted;  // for each of them
  std::vector<Stretch> gaps;  // times in which it is not known what a processor ran
  std::vector<Interrupt> interrupts;
  std::vector<uint32_t> interrupted;  // the kernel's id of the thread, for each of them
  std::unordered_map<uint32_t, std::vector<Wakeup>> wakeups;
  std::unordered_map<uint32_t, std::vector<Making>> made;
  std::unordered_map<uint32_t, std::vector<uint64_t>> exits;  // times, by id
  std::unordered_map<uint32_t, uint32_t> parents;             // of processes
  std::vector<NamedThread> names;
};

// Reads all records of a trace, whose damages it adds to.
KernelRecords ReadKernelRecords(events::Trace& trace);

}  // namespace jprof::model
