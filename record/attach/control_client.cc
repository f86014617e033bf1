#include "record/attach/control_client.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "common/fd.h"
#include "common/procfs.h"
#include "common/write_all.h"
#include "record/place/flush_folder.h"
#include "record/run/no_process.h"

namespace jprof::record {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// Returns the listening process as reported by the kernel, which detects a socket that another
// process created under this name.
pid_t PeerOf(const Fd& connection) {
  ucred peer = {};
  socklen_t size = sizeof peer;
  getsockopt(connection.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size);
  return peer.pid;
}

// Returns no descriptor if no process listens. Connects through the folder's descriptor, because a
// path in the root directory of a process may be too long for a socket's address.
Fd Connect(const fs::path& path) {
  const Fd folder(open(path.parent_path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  Fd connection(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const std::string name = procfs::DescriptorPath(folder.get()) + "/" + path.filename().string();
  sockaddr_un address = {.sun_family = AF_UNIX};
  if (name.size() >= sizeof address.sun_path) return Fd();
  std::ranges::copy(name, address.sun_path);
  if (connect(connection.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
    return Fd();
  return connection;
}

// Returns the folders that may have the socket of the process, in its root directory and in
// jprof's.
std::vector<fs::path> FoldersFor(uint32_t pid, uid_t owner) {
  std::vector<fs::path> folders;
  const fs::path root = procfs::Directory(pid) + "/root";
  for (const std::string& runtime :
       {procfs::EnvironmentAtStart(pid, "XDG_RUNTIME_DIR"), std::string()}) {
    const std::string folder = control::FolderOf(owner, runtime);
    folders.push_back(root / fs::path(folder).relative_path());
    folders.push_back(folder);
  }
  return folders;
}

// Returns no entries if the folder cannot be read.
std::vector<fs::path> EntriesOf(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code failed;
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
    entries.push_back(at->path());
  }
  return entries;
}

// Returns the folders of this user's sockets or, for root, those of every user.
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

std::vector<Fd> ConnectToAll() {
  std::vector<Fd> all;
  for (const fs::path& folder : OwnFolders()) {
    for (const fs::path& path : EntriesOf(folder)) {
      if (path.extension() != ".sock") continue;
      if (Fd connection = Connect(path)) all.push_back(std::move(connection));
    }
  }
  return all;
}

// Returns no descriptor if the process does not listen. Another process may have created a socket
// of this name.
Fd ConnectTo(pid_t pid, const procfs::Status& status) {
  const auto number = static_cast<uint32_t>(pid);
  const uint32_t own_pid = status.own_pid != 0 ? status.own_pid : number;
  const std::string name = control::SocketName(static_cast<pid_t>(own_pid));
  for (const fs::path& folder : FoldersFor(number, *status.user)) {
    Fd connection = Connect(folder / name);
    if (connection && PeerOf(connection) == pid) return connection;
  }
  for (Fd& connection : ConnectToAll()) {  // the socket has another name
    if (PeerOf(connection) == pid) return std::move(connection);
  }
  return Fd();
}

// Receives the bytes that are there, and the descriptor that may come with them. Returns their
// number as recv does.
ssize_t Receive(int fd, std::span<char> bytes, Fd& descriptor) {
  iovec text = {bytes.data(), bytes.size()};
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))];
  msghdr message = {};
  message.msg_iov = &text;
  message.msg_iovlen = 1;
  message.msg_control = space;
  message.msg_controllen = sizeof space;
  const ssize_t got = recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  const cmsghdr* const rights = got > 0 ? CMSG_FIRSTHDR(&message) : nullptr;
  if (rights != nullptr && rights->cmsg_type == SCM_RIGHTS) {
    int received = -1;
    std::memcpy(&received, CMSG_DATA(rights), sizeof received);
    descriptor.Reset(received);
  }
  return got;
}

// Reads to the newline, the end or the bound. Returns nothing if the deadline passed.
std::optional<std::string> ReadLine(int fd, Clock::time_point until, Fd& descriptor) {
  std::string text;
  while (text.size() < control::kMaxAnswer && !text.ends_with('\n')) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    pollfd polled = {fd, POLLIN, 0};
    if (left <= 0 || poll(&polled, 1, static_cast<int>(left)) == 0) return std::nullopt;
    char part[1024];
    const ssize_t got = Receive(fd, part, descriptor);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (got <= 0) break;
    text.append(part, static_cast<size_t>(got));
  }
  return text.substr(0, text.find('\n'));
}

// Writes the folder that came with the reply to the disk. The kernel drops its descriptor without
// an error if this process may have no more.
Result<std::string> Flush(pid_t pid, const Fd& folder, const std::string& reply) {
  constexpr char kFlushed[] = "all recorded data is on the disk";
  if (!folder && reply == kFlushed) return reply;  // by an earlier version of the agent
  if (!folder) {
    return Fail(
        "the reply of process {} has no descriptor of the profile's folder: nothing was written to "
        "the disk; raise the limit of open files (ulimit -n), or run `sync`",
        pid);
  }
  const auto flushed = FlushFolder(folder.get());
  if (!flushed) return std::unexpected(flushed.error());
  return kFlushed;
}

Result<std::string> Ask(const Fd& connection, control::Command command, double timeout) {
  const pid_t pid = PeerOf(connection);
  const std::string request = control::Request(command);
  // If the agent refuses the connection, sending fails, but a reply can be read.
  (void)SendAll(connection.get(), request);
  const auto until = Clock::now() + std::chrono::microseconds(static_cast<int64_t>(timeout * 1e6));
  Fd folder;
  const auto line = ReadLine(connection.get(), until, folder);
  if (!line) {
    return Fail("process {} did not answer within {} s: it may be stopped or busy; see --timeout",
                pid, timeout);
  }
  const std::string text = control::OneLine(*line);
  if (text.starts_with(control::kOk)) {
    const std::string said = text.substr(control::kOk.size());
    return command == control::Command::kFlush ? Flush(pid, folder, said) : said;
  }
  if (text.starts_with(control::kError)) return Fail("{}", text.substr(control::kError.size()));
  return Fail("process {} ended or closed the connection before it answered", pid);
}

}  // namespace

Result<std::string> AskJvm(pid_t pid, control::Command command, double timeout) {
  const procfs::Status status = procfs::ReadStatus(static_cast<uint32_t>(pid));
  if (!status.user) {
    return NoProcess(static_cast<uint32_t>(pid), errno, "`jprof ctl` lists the JVMs that listen");
  }
  if (geteuid() != 0 && *status.user != geteuid()) {
    return WrongUse("process {} belongs to another user: only that user and root control it", pid);
  }
  const Fd connection = ConnectTo(pid, status);
  if (!connection) {
    return WrongUse(
        "process {} has no listening jprof agent; start the program with `jprof scs -- java ...`, "
        "or `jprof callflow --nostart -- java ...`; `jprof ctl` lists the JVMs that listen",
        pid);
  }
  return Ask(connection, command, timeout);
}

std::vector<pid_t> ListeningJvms() {
  std::set<pid_t> pids;
  for (const Fd& connection : ConnectToAll()) {
    if (const pid_t pid = PeerOf(connection); pid > 0) pids.insert(pid);
  }
  return {pids.begin(), pids.end()};
}

}  // namespace jprof::record
