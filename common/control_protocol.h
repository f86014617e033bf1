// The protocol between `jprof ctl` and the agent in a JVM: the path of the socket and
// the messages.
//
// A connection carries one line in each direction:
// - Request: "jprof 1 COMMAND\n", 256 bytes at most.
// - Response: "ok TEXT\n" or "error TEXT\n", 8192 bytes at most. For `status`, TEXT consists of
//   key=value words; blanks, '%' and control characters in values are written as %XX. The response
//   to `flush` carries the descriptor of the profile's folder (SCM_RIGHTS), whose files the client
//   writes to the disk.
//
// All functions are pure except OwnFolder.
#pragma once

#include <sys/types.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"

namespace jprof::control {

inline constexpr int kVersion = 1;
inline constexpr size_t kMaxRequest = 256, kMaxAnswer = 8192;
inline constexpr std::string_view kOk = "ok ", kError = "error ";
// The agent's response to a request to stop a recording when there is none.
inline constexpr char kNotRecording[] = "no recording is attached to this JVM";

enum class Command { kStart, kStop, kFlush, kReset, kStatus };
inline constexpr std::array<std::string_view, 5> kCommandNames = {"start", "stop", "flush", "reset",
                                                                  "status"};

// Finds the command with this name. Fails (kWrongUse) if there is none, with a message that
// suggests the nearest one.
Result<Command> CommandOf(std::string_view word);

// Makes the request line with its newline, and parses one without it. Any bytes may be parsed.
std::string Request(Command command);
Result<Command> ParseRequest(std::string_view line);

// One value that `status` reports: mode, recording, samples, ...
struct Field {
  std::string key, value;
};
std::string JoinFields(const std::vector<Field>& fields);
std::vector<Field> SplitFields(std::string_view text);

// Returns the text as one line, in which control characters are replaced by '?'.
std::string OneLine(std::string_view text);

// Returns the directory of a user's sockets. It is in `runtime` ($XDG_RUNTIME_DIR), or in /tmp if
// `runtime` is empty or relative.
std::string FolderOf(uid_t user, std::string_view runtime);
// Returns the directory for this process. It is in $XDG_RUNTIME_DIR only if that belongs to the
// process's user.
std::string OwnFolder();
// Returns the name of a process's socket in that directory.
std::string SocketName(pid_t pid);

}  // namespace jprof::control
