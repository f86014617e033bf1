// The command's side of common/control_protocol.h: finds the socket of a JVM and asks it.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "common/control_protocol.h"
#include "common/result.h"

namespace jprof::record {

// The text of an "ok" answer, printable. Errors: wrong use if there is no such process, it belongs
// to another user or has no jprof in it; else what the agent says, or that it does not answer
// within `timeout` seconds.
Result<std::string> AskJvm(pid_t pid, control::Command command, double timeout);

// The processes that listen where this user's sockets are (root: everybody's), in ascending order.
std::vector<pid_t> ListeningJvms();

}  // namespace jprof::record
