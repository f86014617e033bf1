// Attaches the agent to the running JVMs that `jprof tprof` samples, in mode TPROF, so that their
// jitted code has names.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "record/attach/attached_agent.h"

namespace jprof::record {

struct TprofJvmOptions {
  std::filesystem::path agent;  // the library
  std::filesystem::path out;    // the recording, in which the profiles jvm-PID.jprof are made
  std::vector<uint32_t> pids;   // empty for all processes that this user may attach to
  bool code = false;            // log the instructions
};

// Returns the options of an agent that only logs the jitted code of its JVM, into
// the profile `out`.
options::AgentOptions JitLogOptions(const std::filesystem::path& out, bool code);

class TprofJvms {
 public:
  // Adds a note for each JVM that the agent could not be attached to. Stops at a signal.
  void Attach(const TprofJvmOptions& options, std::vector<std::string>& notes);

  // Ends the logs. Adds a note for each JVM whose agent could not be detached.
  void Detach(std::vector<std::string>& notes);

 private:
  struct LoggedJvm {
    AttachedAgent agent;
    std::filesystem::path log;  // a profile
  };
  std::vector<LoggedJvm> attached_;
};

// Gives the log of jitted code in `profile` the pid of the process here: the agent in another pid
// namespace knows only its own. Does nothing if there is no log.
void SetLoggedPid(const std::filesystem::path& profile, uint32_t pid);

}  // namespace jprof::record
