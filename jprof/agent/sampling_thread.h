// The background thread of sampling, for work that a signal handler cannot do: see Run.
#pragma once

#include <cstdint>

#include "jprof/agent/idle_requests.h"
#include "jprof/agent/sampling_schedule.h"
#include "options/agent_options.h"

namespace jprof::agent {

class Sampling;
class SampleRecorder;

class SamplingThread {
 public:
  // All arguments must exist until the process ends.
  SamplingThread(const AgentOptions& options, Sampling& sampling, SampleRecorder& recorder,
                 engine::Session& session)
      : options_(options), sampling_(sampling), recorder_(recorder), requests_(session) {}

  // Call once. Returns false if the thread cannot be created.
  bool Start();

 private:
  [[noreturn]] void Run();
  void ReadKernelFunctions();
  void RefreshUnwindTables(SamplingSchedule& schedule, uint64_t now_ns);
  void RequestSamples(SamplingSchedule& schedule, uint64_t now_ns);

  const AgentOptions& options_;
  Sampling& sampling_;
  SampleRecorder& recorder_;
  IdleRequests requests_;
  bool kernel_functions_read_ = false;
};

}  // namespace jprof::agent
