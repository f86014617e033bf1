// Loads what `jprof timeline` and `jprof system-trace` record of the kernel: the stretches in which
// each thread ran on a processor, why each ended, and who made the thread ready to run again.
//
// A stretch begins and ends on one processor, so each processor's records are read by themselves.
// Times are ns since the recording began.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/result.h"

namespace jprof::model {

// Why a stretch ended. The numbers are those of the event kernel::processor::dispatch.
enum class StopState : uint8_t {
  kRunnable = 0,         // it was preempted
  kSleeping = 1,         // it waited, and signals would wake it
  kUninterruptible = 2,  // it waited, and signals would not
  kStopped = 3,
  kDead = 4,
  kRuns = 254,  // it had not ended when the recording did
  kOther = 255,
};

inline constexpr uint32_t kNoThread = UINT32_MAX;
inline constexpr uint32_t kInterrupt = UINT32_MAX - 1;  // as the waker of a thread

struct Stretch {
  uint64_t begin = 0, end = 0;
  uint64_t ready = 0;          // when the thread was ready to run before it; `begin` if not known
  uint64_t instruction = 0;    // of the program, at which it entered the kernel at the end; 0: none
  uint64_t interrupts = 0;     // ns of interrupts within it
  uint64_t kernel = 0;         // ns of it within system calls, with interrupts
  uint64_t context = 0;        // node of its process's profile at the end; 0 if it is not counted
  uint32_t thread = 0;         // index into Stretches::threads
  uint32_t waker = kNoThread;  // index of the thread that made it ready, or kInterrupt
  uint32_t processor = 0;
  int32_t call = -1;  // number of the system call in which it ended; -1: none
  StopState state = StopState::kOther;

  uint64_t duration() const { return end - begin; }
};

// An interrupt, with those nested in it.
struct Interrupt {
  uint64_t begin = 0, duration = 0;
  uint64_t context = 0;         // node of the thread that it interrupted; 0 if it is not counted
  uint32_t thread = kNoThread;  // that thread; kNoThread if the processor was idle
  uint32_t processor = 0;
  uint32_t number = 0;
  uint8_t kind = 0;     // as in the event
  bool in_gap = false;  // it came in one of Stretches::gaps
};

struct StretchThread {
  uint32_t process = 0, thread = 0;  // the kernel's ids
  uint32_t parent = 0;               // the process that made its process; 0 if that was not seen
  std::string name, process_name;
  uint64_t began = 0, ended = 0;  // when the thread was made and ended; 0 and the end if not seen
  // The thread's stretches, in the order of time: a range of Stretches::stretches.
  size_t first = 0, count = 0;
};

struct Stretches {
  uint64_t start_ns = 0;       // CLOCK_MONOTONIC
  uint64_t start_unix_ns = 0;  // the same by the calendar
  uint64_t duration = 0;
  uint32_t processors = 0;
  std::vector<StretchThread> threads;  // by process, then in the order of their begin
  std::vector<Stretch> stretches;      // by thread
  std::vector<Stretch> idle;           // in which a processor ran no thread, by processor
  // Times in which it is not known what a processor ran: a dispatch was lost, or the kernel did not
  // run our program at it.
  std::vector<Stretch> gaps;
  std::vector<Interrupt> interrupts;  // by processor
  std::vector<std::string> counters;  // names of what is in `counted`
  std::vector<uint64_t> counted;      // counters.size() for each stretch
  bool has_calls = false;             // system calls were recorded
  uint64_t records = 0, lost = 0;
  std::vector<std::string> damages;  // what could not be read

  // Returns for each thread whether its process is this one or descends from it.
  std::vector<bool> ThreadsBelow(uint32_t process) const;
};

// Returns whether the directory has events of the kernel.
bool HasKernelEvents(const std::string& directory);

// Loads them. Fails if there are none, or none that can be read.
Result<Stretches> LoadStretches(const std::string& directory);

}  // namespace jprof::model
