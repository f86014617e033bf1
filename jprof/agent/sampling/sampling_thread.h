// The background thread of sampling does work that a signal handler cannot do: see Run.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <optional>

#include "jprof/agent/sampling/idle_requests.h"
#include "jprof/agent/sampling/sampling_schedule.h"
#include "options/agent_options.h"

namespace jprof::agent {

class Sampling;
class SampleRecorder;

class SamplingThread {
 public:
  // All arguments must exist as long as the object.
  SamplingThread(const options::AgentOptions& options, Sampling& sampling, SampleRecorder& recorder,
                 engine::Session& session)
      : options_(options), sampling_(sampling), recorder_(recorder), requests_(session) {}

  ~SamplingThread() { End(); }

  // Starts the thread. Call this once. Returns false if the thread cannot be created.
  bool Begin();
  // Ends the thread within 10 ms, unless the kernel's functions are being read.
  void End();

 private:
  void Run();
  void Turn(SamplingSchedule& schedule, uint64_t now_ns);
  void ReadKernelFunctions();
  void RefreshUnwindTables(SamplingSchedule& schedule, uint64_t now_ns);
  void RequestSamples(SamplingSchedule& schedule, uint64_t now_ns);

  const options::AgentOptions& options_;
  Sampling& sampling_;
  SampleRecorder& recorder_;
  IdleRequests requests_;
  std::atomic<bool> stop_ = false;
  std::optional<pthread_t> thread_, kernel_thread_;
};

}  // namespace jprof::agent
