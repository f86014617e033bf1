// Samples of where CPUs are, by time or by event, and what happens to processes meanwhile: one perf
// event per CPU (and per thread, unless it watches the whole machine), ring buffers that one
// process reads. For tools outside the profiled process; one thread.
//
// Times are CLOCK_MONOTONIC, ns. Records come in their order.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "ptm/event_spec.h"

namespace jprof::ptm {

// The event that samples by time: the CPU clock, which also runs while a CPU idles.
EventSpec CpuClock();
// A thread's own on-CPU time, in ns, as an event to count.
EventSpec TaskClock();

struct CpuSamplerOptions {
  EventSpec event = CpuClock();
  uint64_t rate = 100;         // samples per second and CPU; 0: by period
  uint64_t period = 0;         // every so many events
  bool chains = false;         // frame-pointer call chains
  std::vector<uint32_t> pids;  // these processes and what they start; empty: the whole machine
  bool on_exec = false;        // starts counting when the (single) process executes
  bool maps = true;            // with the mappings of code
  // Tell of each dispatch, and with each sample what the CPU has counted (whole machine only):
  // `event` and, beside it, these, all of them at once, or Open fails.
  bool switches = false;
  std::vector<EventSpec> counted;
  size_t ring_pages = 128;  // per CPU, a power of two; half a MiB lasts for seconds
};

// One reading of `counted`, with the sample's own event first. `enabled`: ns since the start.
struct CountedValues {
  static constexpr size_t kMost = 9;
  uint64_t enabled = 0, running = 0;
  size_t size = 0;
  uint64_t values[kMost] = {};
};

// What the kernel reports; only the fields that a kind names are set.
struct SampleRecord {
  enum class Kind : uint8_t { kSample, kMap, kComm, kFork, kExit, kLost, kSwitch };
  Kind kind = Kind::kSample;
  bool kernel = false;  // kSample: the address is the kernel's
  bool exec = false;    // kComm: by an exec, which has emptied the process
  uint16_t cpu = 0;
  uint32_t pid = 0, tid = 0;                // kSwitch: of the thread that is dispatched
  uint32_t parent_pid = 0, parent_tid = 0;  // kFork
  uint64_t time = 0;
  uint64_t address = 0;                        // kSample: instruction; kMap: start
  uint64_t length = 0, offset = 0, inode = 0;  // kMap
  uint64_t lost = 0;  // kLost: samples or records; of what could not be read, as many as fit there
  std::string_view text;            // kMap: path; kComm: name; valid during the call
  std::span<const uint64_t> chain;  // kSample with chains, innermost first; context marks left out
  CountedValues counted;            // kSample, with switches
};

class CpuSampler {
 public:
  // Opened and not started. Error (exit code 1): what the kernel refuses and which sysctl or
  // capability would help. If kernel addresses are forbidden, only user mode is sampled, and `note`
  // says so.
  static Result<CpuSampler> Open(const CpuSamplerOptions& options);
  // A ring that is mapped already, behind its page; both it and the descriptor go with the
  // CpuSampler.
  static CpuSampler Over(int descriptor, void* ring, size_t ring_pages);
  CpuSampler(CpuSampler&&) noexcept;
  CpuSampler& operator=(CpuSampler&&) noexcept;
  ~CpuSampler();

  void Start();
  void Stop();
  // Waits for records up to `milliseconds` (or until a signal), then hands on all up to that
  // moment.
  void Drain(int milliseconds, const std::function<void(const SampleRecord&)>& visit);

  // What is counted on each CPU at this moment, between two samples (kSample records with a CPU and
  // values, nothing else).
  void ReadCounted(const std::function<void(const SampleRecord&)>& visit);

  const std::string& note() const;
  uint32_t cpus() const;

 private:
  struct State;
  explicit CpuSampler(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Whether the whole machine can be sampled by this user, and if not, what would allow it.
struct Permission {
  bool whole_machine = false;
  bool kernel = false;
  std::string advice;  // empty if all is allowed
};
Permission SamplingPermission();

}  // namespace jprof::ptm
