#include "record/control_client.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

namespace jprof::record {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

class Connection {
 public:
  explicit Connection(int fd) : fd_(fd) {}
  Connection(Connection&& other) : fd_(std::exchange(other.fd_, -1)) {}
  ~Connection() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }

  // Who listens: kept by the kernel, so a socket that others made is known.
  ucred Peer() const {
    ucred peer = {};
    socklen_t size = sizeof peer;
    getsockopt(fd_, SOL_SOCKET, SO_PEERCRED, &peer, &size);
    return peer;
  }

 private:
  int fd_;
};

// Through the folder's descriptor: paths through /proc/PID/root are too long for a socket's
// address.
std::optional<Connection> Connect(const fs::path& path) {
  const Connection folder(open(path.parent_path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  Connection connection(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const std::string name =
      fmt::format("/proc/self/fd/{}/{}", folder.get(), path.filename().string());
  sockaddr_un address = {.sun_family = AF_UNIX};
  if (name.size() >= sizeof address.sun_path) return std::nullopt;
  std::ranges::copy(name, address.sun_path);
  if (connect(connection.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    return std::nullopt;
  }
  return connection;
}

std::string ReadAll(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

fs::path ProcOf(pid_t pid) { return fmt::format("/proc/{}", pid); }

// A line of /proc/PID/status, its words as numbers; empty: no such process, or no such line.
std::vector<int64_t> StatusOf(pid_t pid, const std::string& name) {
  std::ifstream in(ProcOf(pid) / "status");
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(name + ":")) continue;
    std::istringstream words(line.substr(name.size() + 1));
    return {std::istream_iterator<int64_t>(words), {}};
  }
  return {};
}

// Whom it runs as. Not the owner of /proc/PID: that is root once a process has changed its user.
std::optional<uid_t> OwnerOf(pid_t pid) {
  const auto users = StatusOf(pid, "Uid");  // real, effective, saved, file system's
  if (users.size() < 2) return std::nullopt;
  return static_cast<uid_t>(users[1]);
}

// Its $XDG_RUNTIME_DIR when it was started; empty: none, or not to be seen.
std::string RuntimeOf(pid_t pid) {
  constexpr std::string_view kName = "XDG_RUNTIME_DIR=";
  const std::string environment = '\0' + ReadAll(ProcOf(pid) / "environ");
  const size_t found = environment.find('\0' + std::string(kName));
  if (found == environment.npos) return "";
  return environment.c_str() + found + 1 + kName.size();
}

// The number that the process has for itself, in a container's pid namespace.
pid_t OwnNumberOf(pid_t pid) {
  const auto numbers = StatusOf(pid, "NSpid");  // outermost first
  return numbers.empty() ? pid : static_cast<pid_t>(numbers.back());
}

// Folders that may have its socket: as the process itself sees them, and as we do.
std::vector<fs::path> FoldersFor(pid_t pid, uid_t owner) {
  std::vector<fs::path> folders;
  const fs::path root = ProcOf(pid) / "root";
  for (const std::string& runtime : {RuntimeOf(pid), std::string()}) {
    const std::string folder = control::FolderOf(owner, runtime);
    folders.push_back(root / fs::path(folder).relative_path());
    folders.push_back(folder);
  }
  return folders;
}

// What is in a folder; nothing if it cannot be read.
std::vector<fs::path> EntriesOf(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code failed;
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
    entries.push_back(at->path());
  }
  return entries;
}

// This user's; root's are everybody's.
std::set<fs::path> OwnFolders() {
  std::set<fs::path> folders = {control::OwnFolder(), control::FolderOf(geteuid(), "")};
  if (geteuid() != 0) return folders;
  std::vector<fs::path> places = EntriesOf("/run/user");
  places.push_back("/tmp");
  for (const fs::path& place : places) {
    for (const fs::path& folder : EntriesOf(place)) {
      if (folder.filename().string().starts_with("jprof-")) folders.insert(folder);
    }
  }
  return folders;
}

// Connections to all that listen in those.
std::vector<Connection> Listening() {
  std::vector<Connection> all;
  for (const fs::path& folder : OwnFolders()) {
    for (const fs::path& path : EntriesOf(folder)) {
      if (path.extension() != ".sock") continue;
      if (auto connection = Connect(path)) all.push_back(*std::move(connection));
    }
  }
  return all;
}

// Only what that process itself listens to: others may have made a socket of its name.
std::optional<Connection> ConnectTo(pid_t pid, uid_t owner) {
  const std::string name = control::SocketName(OwnNumberOf(pid));
  for (const fs::path& folder : FoldersFor(pid, owner)) {
    auto connection = Connect(folder / name);
    if (connection && connection->Peer().pid == pid) return connection;
  }
  for (Connection& connection : Listening()) {  // under another name
    if (connection.Peer().pid == pid) return std::move(connection);
  }
  return std::nullopt;
}

// Until the newline, the end or the deadline; a foreign text, so bounded. None: the deadline.
std::optional<std::string> ReadLine(int fd, Clock::time_point until) {
  std::string text;
  while (text.size() < control::kMaxAnswer && !text.ends_with('\n')) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    pollfd polled = {fd, POLLIN, 0};
    if (left <= 0 || poll(&polled, 1, static_cast<int>(left)) == 0) return std::nullopt;
    char part[1024];
    const ssize_t got = recv(fd, part, sizeof part, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (got <= 0) break;
    text.append(part, static_cast<size_t>(got));
  }
  return text.substr(0, text.find('\n'));
}

Result<std::string> Ask(const Connection& connection, control::Command command, double timeout) {
  const pid_t pid = connection.Peer().pid;
  const std::string request = control::Request(command);
  // Whom the agent refuses at once cannot send, but has an answer.
  (void)!send(connection.get(), request.data(), request.size(), MSG_NOSIGNAL);
  const auto until = Clock::now() + std::chrono::microseconds(static_cast<int64_t>(timeout * 1e6));
  const auto line = ReadLine(connection.get(), until);
  if (!line) {
    return Fail(
        "process {} did not answer within {} s: it may be stopped, or at work; see --timeout", pid,
        timeout);
  }
  const std::string text = control::OneLine(*line);
  if (text.starts_with(control::kOk)) return text.substr(control::kOk.size());
  if (text.starts_with(control::kError)) return Fail("{}", text.substr(control::kError.size()));
  return Fail("process {} ended, or dropped the connection, before it answered", pid);
}

}  // namespace

Result<std::string> AskJvm(pid_t pid, control::Command command, double timeout) {
  const auto owner = OwnerOf(pid);
  if (!owner) return WrongUse("there is no process {}; `jprof ctl` lists those that listen", pid);
  if (geteuid() != 0 && *owner != geteuid()) {
    return WrongUse("process {} belongs to another user: only that user and root control it", pid);
  }
  const auto connection = ConnectTo(pid, *owner);
  if (!connection) {
    return WrongUse(
        "process {} has no jprof in it that listens; start the program with `jprof scs -- java "
        "...`, or see `jprof ctl` for those that do",
        pid);
  }
  return Ask(*connection, command, timeout);
}

std::vector<pid_t> ListeningJvms() {
  std::set<pid_t> pids;
  for (const Connection& connection : Listening()) {
    if (const pid_t pid = connection.Peer().pid; pid > 0) pids.insert(pid);
  }
  return {pids.begin(), pids.end()};
}

}  // namespace jprof::record
