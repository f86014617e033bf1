#include "events/control/client.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <set>

#include "common/fd.h"
#include "common/procfs.h"
#include "common/write_all.h"

namespace jprof::events {
namespace {

constexpr std::string_view kSocket = "/.jprof-control";
constexpr size_t kMostReply = size_t{16} << 20;
constexpr std::array<std::string_view, 4> kLevelNames = {"off", "statistics", "log",
                                                         "log+statistics"};

// Returns no descriptor, with errno, if no process listens. Connects through the descriptor of the
// directory, whose path may be too long for a socket's address.
Fd Connect(const std::string& directory, double timeout) {
  const Fd folder(open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return Fd();
  Fd connection(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const double seconds = std::floor(timeout);
  const timeval limit = {static_cast<time_t>(seconds),
                         static_cast<suseconds_t>((timeout - seconds) * 1e6)};
  setsockopt(connection.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  setsockopt(connection.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  sockaddr_un address = {.sun_family = AF_UNIX};
  std::ranges::copy(procfs::DescriptorPath(folder.get()) + std::string(kSocket), address.sun_path);
  if (connect(connection.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
    return Fd();
  return connection;
}

uint32_t PeerOf(const Fd& connection) {
  ucred peer = {};
  socklen_t size = sizeof peer;
  getsockopt(connection.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size);
  return static_cast<uint32_t>(peer.pid);
}

Result<std::string> Ask(const std::string& directory, const std::string& request, double timeout) {
  const Fd connection = Connect(directory, timeout);
  if (!connection && errno == EACCES)
    return WrongUse("{}: only the user of the program and root control its events", directory);
  if (!connection)
    return WrongUse(
        "{} is not the trace of a running program that can be controlled; `jprof ctl` lists those",
        directory);
  const bool sent = SendAll(connection.get(), request) == 0;
  shutdown(connection.get(), SHUT_WR);
  std::string reply;
  char part[4096];
  ssize_t got = sent ? 1 : -1;
  while (got > 0 && reply.size() < kMostReply) {
    got = recv(connection.get(), part, sizeof part, 0);
    if (got > 0) reply.append(part, static_cast<size_t>(got));
  }
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
    return Fail("{}: process {} did not answer within {} s: it may be stopped; see --timeout",
                directory, PeerOf(connection), timeout);
  if (reply.empty())
    return Fail("{}: process {} ended or refused the connection: only its user controls it",
                directory, PeerOf(connection));
  return reply;
}

std::string_view TakeLine(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

// Returns the number of "ok NUMBER".
Result<uint64_t> Accepted(std::string_view line) {
  constexpr std::string_view kOk = "ok ", kError = "error ";
  if (line.starts_with(kOk)) return procfs::NumberAt<uint64_t>(line.substr(kOk.size())).value_or(0);
  if (line.starts_with(kError)) return Fail("{}", line.substr(kError.size()));
  return Fail("the reply of the program is not complete");
}

// Returns the directories of all sockets with our name that the process (0: this one) can see.
// While other programs open and close sockets, the kernel may list one twice, or leave one out in
// one reading; hence there are two readings, and a set.
std::set<std::string> SocketDirectories(uint32_t pid) {
  const std::string process = procfs::Directory(pid);
  const bool shares_files = pid == 0 || procfs::SharesFiles(pid);
  std::set<std::string> directories;
  for (int reading = 0; reading < 2; ++reading) {
    const std::string text = procfs::ReadSmallFile(process + "/net/unix");
    for (std::string_view rest = text; !rest.empty();) {
      const std::string_view line = TakeLine(rest);
      const size_t path = line.find('/');
      if (path == line.npos || !line.ends_with(kSocket)) continue;
      const std::string_view directory = line.substr(path, line.size() - path - kSocket.size());
      directories.insert((shares_files ? "" : process + "/root") + std::string(directory));
    }
  }
  return directories;
}

}  // namespace

std::vector<LiveTrace> LiveTraces(uint32_t pid) {
  std::vector<LiveTrace> traces;
  for (const std::string& directory : SocketDirectories(pid)) {
    const Fd connection = Connect(directory, 1);
    if (!connection) continue;
    const uint32_t peer = PeerOf(connection);
    if (pid == 0 || peer == pid) traces.push_back({.pid = peer, .directory = directory});
  }
  return traces;
}

Result<NewLevel> ParseNewLevel(std::string_view text) {
  const size_t equals = text.rfind('=');
  const std::string_view name = equals == text.npos ? "" : text.substr(equals + 1);
  const std::string_view pattern = text.substr(0, equals);
  auto found = std::ranges::find(kLevelNames, name == "statistics+log" ? kLevelNames[3] : name);
  if (equals == text.npos || equals == 0 || pattern.find('\n') != text.npos ||
      found == kLevelNames.end())
    return WrongUse(
        "'{}' is not PATTERN=LEVEL, such as 'shop::*=log'; levels are off, statistics, log and "
        "log+statistics",
        text);
  return NewLevel{.pattern = std::string(pattern),
                  .level = static_cast<int>(found - kLevelNames.begin())};
}

std::string_view LevelName(int level) { return kLevelNames[static_cast<size_t>(level & 3)]; }

Result<std::vector<EventLevel>> ListLevels(const std::string& directory, double timeout) {
  const auto reply = Ask(directory, "list\n", timeout);
  if (!reply) return std::unexpected(reply.error());
  std::vector<EventLevel> levels;
  std::string_view rest = *reply;
  constexpr std::string_view kEvent = "event ";
  for (;;) {
    std::string_view line = TakeLine(rest);
    if (!line.starts_with(kEvent)) {
      if (const auto accepted = Accepted(line); !accepted) return std::unexpected(accepted.error());
      return levels;
    }
    line.remove_prefix(kEvent.size());
    const size_t version = line.find(' '), name = line.rfind(' ');
    if (name == line.npos || name == version) continue;
    levels.push_back({.name = std::string(line.substr(name + 1)),
                      .version = procfs::NumberAt<uint32_t>(line.substr(version + 1)).value_or(0),
                      .level = procfs::NumberAt<int>(line).value_or(0)});
  }
}

Result<std::vector<uint64_t>> SetLevels(const std::string& directory,
                                        const std::vector<NewLevel>& levels, double timeout) {
  std::string request;
  for (const NewLevel& one : levels)
    request += fmt::format("level {} {}\n", one.level, one.pattern);
  const auto reply = Ask(directory, request, timeout);
  if (!reply) return std::unexpected(reply.error());
  std::vector<uint64_t> counts;
  std::string_view rest = *reply;
  while (counts.size() < levels.size()) {
    const auto count = Accepted(TakeLine(rest));
    if (!count) return std::unexpected(count.error());
    counts.push_back(*count);
  }
  return counts;
}

Result<void> ResetStatistics(const std::string& directory, double timeout) {
  const auto reply = Ask(directory, "reset\n", timeout);
  if (!reply) return std::unexpected(reply.error());
  std::string_view rest = *reply;
  const auto accepted = Accepted(TakeLine(rest));
  if (!accepted) return std::unexpected(accepted.error());
  return {};
}

}  // namespace jprof::events
