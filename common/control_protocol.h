// What `jprof ctl` and the agent in a JVM agree on: where the socket is and what is said over it.
//
// A connection carries one line each way. The request is "jprof 1 COMMAND\n", 256 bytes at most.
// The answer is "ok TEXT\n" or "error TEXT\n", 8192 bytes at most; to `status` TEXT is key=value
// words with blanks, '%' and control characters in values as %XX. Pure, but for OwnFolder.
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

enum class Command { kStart, kStop, kFlush, kReset, kStatus };
inline constexpr std::array<std::string_view, 5> kCommandNames = {"start", "stop", "flush", "reset",
                                                                  "status"};

// Error (wrong use): names the nearest command.
Result<Command> CommandOf(std::string_view word);

// The line for a command, with its newline; and back, without. Any bytes may be parsed.
std::string Request(Command command);
Result<Command> ParseRequest(std::string_view line);

// What status tells: mode, recording, samples, ...
struct Fact {
  std::string key, value;
};
std::string JoinFacts(const std::vector<Fact>& facts);
std::vector<Fact> SplitFacts(std::string_view text);

// The text as one line: control characters become '?'.
std::string OneLine(std::string_view text);

// Where a user's sockets are: in `runtime` ($XDG_RUNTIME_DIR), or in /tmp if that is empty or
// relative.
std::string FolderOf(uid_t user, std::string_view runtime);
// The place of this process: its user's, in $XDG_RUNTIME_DIR only if that belongs to the user.
std::string OwnFolder();
// A process' socket in that folder.
std::string SocketName(pid_t pid);

}  // namespace jprof::control
