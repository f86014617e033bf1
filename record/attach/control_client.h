// Implements the client side of common/control_protocol.h: finds the socket of a JVM
// and sends a request.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "common/control_protocol.h"
#include "common/result.h"

namespace jprof::record {

// Returns the printable text of the reply "ok". For `flush`, also writes the profile's files to the
// disk, however long that takes.
// - Fails with kWrongUse if there is no such process, if it belongs to another user, or if no
//   agent in it listens.
// - Fails with kFailed if the agent reports an error or does not reply within `timeout` seconds, or
//   if the files cannot be written to the disk.
Result<std::string> AskJvm(pid_t pid, control::Command command, double timeout);

// Returns the processes that listen to sockets of this user (for root, of every user),
// in ascending order.
std::vector<pid_t> ListeningJvms();

}  // namespace jprof::record
