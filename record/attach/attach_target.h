// Finds a running JVM to attach to, and checks it before anything is sent to it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "common/fd.h"
#include "common/procfs.h"
#include "common/result.h"
#include "record/run/scoped_user.h"

namespace jprof::record {

struct AttachTarget {
  uint32_t pid = 0;
  uint32_t own_pid = 0;  // in its own pid namespace
  UserIds ids;
  bool shares_files = true;                    // its paths are those of this process
  std::vector<procfs::Mapping> loaded_agents;  // JvmMappings::agents
  Fd process;  // a pidfd, which identifies the process and is readable when it has ended
  std::string temporary_path = "/tmp";  // its directory for temporary files, as the JVM calls it
  Fd temporary;                         // that directory, also after the JVM's end

  bool Ended() const;
  // Returns why the JVM does not reply, as far as its state shows, and what to do.
  std::string WhySilent() const;
  // Returns the path of the socket at which it listens. The path is valid in this process as long
  // as the object exists.
  std::string SocketPath() const;
};

// Checks that the process is a JVM that will reply; sends it nothing. Fails with kWrongUse if there
// is no such process, or if it is no HotSpot JVM, belongs to another user, is stopped, does not
// accept agents, or runs on another C library than the agent.
Result<AttachTarget> FindTarget(uint32_t pid);

}  // namespace jprof::record
