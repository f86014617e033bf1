// Finds the JVMs below a command while it runs, so that those without a profile can be
// named. Reads the proc file system only; a JVM that lives shorter than the time between two
// looks may be missed.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/procfs.h"

namespace jprof::record {

struct SeenJvm {
  uint32_t pid = 0;
  std::vector<std::string> command;
  bool had_agent = false;  // JAVA_TOOL_OPTIONS had the agent when it started
};

class JvmWatch {
 public:
  // `agent` is the library's path as in JAVA_TOOL_OPTIONS.
  explicit JvmWatch(std::string agent, std::string proc = procfs::kRoot)
      : agent_(std::move(agent)), proc_(std::move(proc)) {}

  // Looks at `root` and the processes below it. Costs one system call, and several for each process
  // that is new or has started another program.
  void Look(uint32_t root);

  const std::vector<SeenJvm>& seen() const { return seen_; }

 private:
  struct Process {
    bool below = false;  // the command or a process below it
    std::vector<std::string> command;
    int looks = 0;  // since it started this program
    bool is_jvm = false;
  };

  void Forget(const std::vector<uint32_t>& running);
  bool IsBelow(uint32_t pid, uint32_t root) const;
  void LookAt(uint32_t pid, Process& process);

  std::string agent_, proc_;
  std::map<uint32_t, Process> processes_;
  std::vector<SeenJvm> seen_;
};

// Returns why a JVM that was seen has no profile, with its command, for the user.
std::string UnprofiledText(const SeenJvm& jvm);

}  // namespace jprof::record
