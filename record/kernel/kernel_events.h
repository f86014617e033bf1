// Records what the kernel does by programs that run in it (eBPF): dispatches, interrupts, wakeups,
// threads, and on request page faults, mapped files and system calls. The programs belong to this
// process: the kernel removes them when it ends, however it ends.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "ptm/event_spec.h"
#include "record/kernel/kernel_shared.h"

namespace jprof::record {

inline constexpr size_t kMostCounters = KERNEL_COUNTERS;  // of each stretch

struct KernelEventsOptions {
  bool all_processes = false;  // page faults, maps and system calls of all, not of the targets only
  bool memory = false;         // page faults and mapped files
  bool system_calls = false;
  // Only counts the interrupts of each thread: no events are written. ReadInterrupts has them.
  bool thread_interrupts = false;
  std::vector<ptm::EventSpec> counters;  // of each stretch; at most kMostCounters
  // Libraries whose function jprof_announce_context says where calling contexts are.
  std::vector<std::string> announcers;
};

class KernelEvents {
 public:
  // Loads the programs, which do not run yet. Fails if the kernel has no type information (BTF), if
  // this user may not load programs, or if it refuses one that is necessary; the message names what
  // is missing.
  static Result<KernelEvents> Open(const KernelEventsOptions& options);
  KernelEvents(KernelEvents&&) noexcept;
  KernelEvents& operator=(KernelEvents&&) noexcept;
  ~KernelEvents();

  // Begins to record.
  Result<void> Start();
  // Ends the recording; records that were not read can still be.
  void Stop();

  // A target's page faults, maps and system calls are recorded, and those of the processes that it
  // makes from now on.
  void AddTarget(uint32_t process);
  void RemoveTarget(uint32_t process);

  // Visits the records that were written since the last call, in the order of each processor. A
  // record is as the specification kernel.xml says, preceded by time (CLOCK_MONOTONIC) and id.
  using Visitor = std::function<void(uint32_t processor, std::string_view record)>;
  void Read(const Visitor& visit);

  // Visits the interrupts that came while each thread ran, without those nested in others, since
  // Start. A thread that has had none is not visited.
  void ReadInterrupts(const std::function<void(uint32_t tid, uint64_t count)>& visit) const;

  // Returns for each processor the number of records that found no room in its buffer.
  std::vector<uint64_t> Lost() const;

  uint32_t processors() const;
  // Returns what this kernel cannot record, for the user.
  const std::vector<std::string>& notes() const;

 private:
  struct State;
  explicit KernelEvents(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace jprof::record
