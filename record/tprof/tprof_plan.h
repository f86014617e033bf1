// Checks the request of `jprof tprof` and makes a plan for it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/result.h"
#include "ptm/cpu_sampler.h"
#include "record/run/java_command.h"

namespace jprof::record {

// The options as typed. Those that were not given are 0 or empty.
struct TprofRequest {
  bool all = false;            // the whole machine
  std::vector<uint32_t> pids;  // these processes and their descendants
  uint64_t rate = 0;           // samples per second on each CPU
  uint64_t period = 0;         // events per sample
  std::string event;           // empty for time
  double duration = 0;         // seconds
  double delay = 0;            // seconds before the first sample
  std::string out;             // the recording's directory
  std::string agent;           // the agent library
  bool force_rate = false;     // even if interrupts cost too much
  bool chains = false;         // record call chains
  bool code = false;           // record the instructions of jitted methods
  bool children = false;       // load the agent into every JVM that the command starts
  std::optional<bool> attach;  // to sampled JVMs that run already; if unset, only with `pids`
};

struct TprofPlan {
  std::filesystem::path out;        // a directory that does not exist
  ptm::CpuSamplerOptions sampling;  // the whole machine if there are no pids and no launch
  bool whole_machine = false;       // even with a command
  std::optional<Launch> launch;     // the program to run during sampling
  double delay = 0;                 // seconds before the first sample
  double duration = 0;              // seconds; 0 until the command ends, or Ctrl-C
  std::string command;              // for the header
  std::filesystem::path agent;      // for the sampled JVMs that run already; may be empty
  bool code = false;                // have these log the instructions of jitted methods
  std::vector<std::string> notes;
};

// Fails with kWrongUse if options exclude each other. Pure.
Result<void> CheckRequest(const TprofRequest& request, const std::vector<std::string>& command);

// Returns the sampler's options before limits are applied. Pure, except that an event is looked up.
Result<ptm::CpuSamplerOptions> SamplingOf(const TprofRequest& request);

// Checks everything before anything is started. `command` is empty if there is none.
Result<TprofPlan> PlanTprof(const TprofRequest& request, const std::vector<std::string>& command);

}  // namespace jprof::record
