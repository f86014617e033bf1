// What `jprof tprof` is asked to record, and the checked plan for it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/result.h"
#include "ptm/cpu_sampler.h"
#include "record/java_command.h"

namespace jprof::record {

// As typed; 0 or empty: not given.
struct TprofRequest {
  bool all = false;            // the whole machine
  std::vector<uint32_t> pids;  // these processes and what they start
  uint64_t rate = 0;           // samples per second on each CPU
  uint64_t period = 0;         // sample every so many events
  std::string event;           // empty: time
  double duration = 0;         // seconds
  double delay = 0;            // seconds before the first sample
  std::string out;             // the recording's directory
  std::string agent;           // the agent library
  bool force_rate = false;     // even where interrupts cost too much
  bool chains = false;         // record call chains
  bool code = false;           // record the instructions of jitted methods
  bool children = false;       // the agent goes into every JVM that the command starts
};

struct TprofPlan {
  std::filesystem::path out;        // a directory that does not exist
  ptm::CpuSamplerOptions sampling;  // pids empty and no launch: the whole machine
  bool whole_machine = false;       // although there is a command
  std::optional<Launch> launch;     // the program to run meanwhile
  double delay = 0;                 // seconds before the first sample
  double duration = 0;              // seconds; 0: until the command ends, or Ctrl-C
  std::string command;              // for the header
  std::vector<std::string> notes;
};

// Wrong use: options that exclude each other. Pure.
Result<void> CheckRequest(const TprofRequest& request, const std::vector<std::string>& command);

// The sampler's options before any limit. Pure unless an event is given, which is looked up.
Result<ptm::CpuSamplerOptions> SamplingOf(const TprofRequest& request);

// Everything that can be wrong is found here, before anything starts. `command` empty: none.
Result<TprofPlan> PlanTprof(const TprofRequest& request, const std::vector<std::string>& command);

}  // namespace jprof::record
