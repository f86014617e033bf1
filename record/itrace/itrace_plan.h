// Checks the request of `jprof itrace` and makes a plan for it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/result.h"
#include "itrace/tracer.h"
#include "record/run/java_command.h"

namespace jprof::record {

// The options as typed. Those that were not given are 0 or empty.
struct ItraceRequest {
  uint32_t pid = 0, tid = 0;
  double duration = 0;   // seconds
  std::string engine;    // auto, block or step
  std::string threads;   // all
  std::string function;  // from its entry to its return
  std::string from, to;  // names of code
  std::optional<uint64_t> calls;
  uint64_t instructions = 0;
  bool no_records = false;  // record no branches
  bool memory = false;      // record references to memory
  bool sites = false;       // log where that memory was allocated
  bool not_taken = false;   // record branches that are not taken
  bool no_pin = false;
  std::string out, agent;
};

struct ItracePlan {
  std::filesystem::path out;  // a directory that does not exist; empty if nothing is written
  itrace::TracerOptions options;
  itrace::TraceRange range;  // without places
  std::string begin, end;    // names of code; empty if there are none
  std::optional<Launch> launch;
  uint32_t pid = 0;             // without a command
  std::filesystem::path agent;  // to attach to the process if it is a JVM; empty if not
  std::filesystem::path jvm;    // where a JVM logs its code; empty if it does not
  bool sites = false;           // the program loads libjprof-pages.so, whose logs go to `out`
  std::string command;
  std::vector<std::string> notes;
};

// Checks everything before anything is started.
Result<ItracePlan> PlanItrace(const ItraceRequest& request,
                              const std::vector<std::string>& command);

}  // namespace jprof::record
