// The client side of common/control_protocol.h: finds the socket of a JVM and sends a request.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "common/control_protocol.h"
#include "common/result.h"

namespace jprof::record {

// Returns the printable text of an "ok" answer. For `flush`, also writes the profile's files to the
// disk, however long that takes.
// - Wrong use: there is no such process, it belongs to another user, or no agent in it listens.
// - Failed: the agent reports an error or does not answer within `timeout` seconds, or the files
//   cannot be written to the disk.
Result<std::string> AskJvm(pid_t pid, control::Command command, double timeout);

// The processes that listen to sockets of this user (root: of every user), in ascending order.
std::vector<pid_t> ListeningJvms();

}  // namespace jprof::record
