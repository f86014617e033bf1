// Samples CPUs by time or by event, and reports process events meanwhile. It opens one perf event
// per CPU (and per thread, unless it samples the whole machine), with ring buffers that one process
// reads. It is for tools outside the profiled process, and for one thread.
//
// Times are CLOCK_MONOTONIC, in ns. Records are delivered in order of time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/result.h"
#include "ptm/event_spec.h"
#include "ptm/sample_record.h"

namespace jprof::ptm {

// Returns the event that samples by time: the CPU clock, which also runs while a CPU idles.
EventSpec CpuClock();
// Returns a thread's own on-CPU time, in ns, as an event to count.
EventSpec TaskClock();
// Returns the page faults of processes; their data is the address that was accessed.
EventSpec PageFaults();

struct CpuSamplerOptions {
  EventSpec event = CpuClock();
  uint64_t rate = 100;         // samples per second and CPU; 0 if by period
  uint64_t period = 0;         // one sample every `period` events
  bool chains = false;         // frame-pointer call chains
  std::vector<uint32_t> pids;  // these processes and their descendants; the whole machine if empty
  bool on_exec = false;        // starts counting when the (single) process executes
  bool data = false;           // the addresses of data that the events are about
  bool maps = true;            // also reports the mappings of code
  // Reports each dispatch, and with each sample the CPU's values of `event` and of the events in
  // `counted`, which count at the same time; otherwise Open fails. Requires the whole machine.
  bool switches = false;
  std::vector<EventSpec> counted;
  size_t ring_pages = 128;  // per CPU, a power of two; half a MiB lasts for seconds
};

class CpuSampler {
 public:
  // Opens the events, but does not start them. Fails (kFailed) if the kernel refuses one; the
  // message states which sysctl or capability would permit it. If kernel addresses are forbidden,
  // only user mode is sampled, and `note` states so.
  static Result<CpuSampler> Open(const CpuSamplerOptions& options);
  // Uses a ring that is already mapped, after its page. The CpuSampler takes ownership of the
  // mapping and the descriptor.
  static CpuSampler FromRing(int descriptor, void* ring, size_t ring_pages);
  CpuSampler(CpuSampler&&) noexcept;
  CpuSampler& operator=(CpuSampler&&) noexcept;
  ~CpuSampler();

  void Start();
  void Stop();
  // Waits up to `milliseconds` (or until a signal) for records, then visits all records up to that
  // moment.
  void Drain(int milliseconds, const SampleVisitor& visit);

  // Visits the current counts of each CPU, between two samples, as kSample records with only a CPU
  // and values.
  void ReadCounted(const SampleVisitor& visit);

  const std::string& note() const;
  uint32_t cpus() const;

 private:
  struct State;
  explicit CpuSampler(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// States whether this user may sample the whole machine, and if not, what would permit it.
struct Permission {
  bool whole_machine = false;
  bool kernel = false;
  std::string advice;  // empty if all is allowed
};
Permission SamplingPermission();

}  // namespace jprof::ptm
