#include "jprof/agent/control.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include "common/blocked_signals.h"
#include "common/errno_text.h"
#include "common/fd.h"
#include "common/monotonic.h"
#include "common/no_memory.h"

namespace jprof::agent {
namespace {

constexpr int64_t kRetryAcceptMs = 100;
// The thread checks at this interval, in ms, whether the program has closed the socket.
constexpr int64_t kLookMs = 1000;

int64_t Now() { return MonotonicNanos() / 1'000'000; }

// Returns nothing if the path is too long for a socket.
std::optional<sockaddr_un> AddressOf(const std::string& path) {
  sockaddr_un address = {.sun_family = AF_UNIX};
  if (path.size() >= sizeof address.sun_path) return std::nullopt;
  std::ranges::copy(path, address.sun_path);
  return address;
}

const sockaddr* Generic(const sockaddr_un& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

// Returns whether the socket exists but no process listens.
bool IsStale(const std::string& path) {
  const auto address = AddressOf(path);
  const Fd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!address || !fd) return false;
  return connect(fd.get(), Generic(*address), sizeof *address) != 0 && errno == ECONNREFUSED;
}

// Returns the PID of "PID.sock", or 0 for any other name.
pid_t PidOf(std::string_view name) {
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
  return error == std::errc() && pid > 0 && name == control::SocketName(pid) ? pid : 0;
}

// Removes a socket only if its process does not exist and nothing listens. Both are checked because
// a process of another container that shares the folder has no pid here, and a process that is
// starting does not listen yet.
void RemoveStale(const std::string& folder) {
  DIR* entries = opendir(folder.c_str());
  if (entries == nullptr) return;
  while (const dirent* entry = readdir(entries)) {
    const pid_t pid = PidOf(entry->d_name);
    const std::string path = folder + "/" + entry->d_name;
    if (pid > 0 && kill(pid, 0) != 0 && errno == ESRCH && IsStale(path)) unlink(path.c_str());
  }
  closedir(entries);
}

// Creates the folder if necessary. Fails if another user could write into it or replace it.
Result<void> PrepareFolder(const std::string& folder) {
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return Fail("cannot make the folder {}: {}", folder, ErrnoText());
  }
  struct stat status;
  if (lstat(folder.c_str(), &status) != 0)
    return Fail("cannot read the attributes of {}: {}", folder, ErrnoText());
  if (!S_ISDIR(status.st_mode)) return Fail("{} is not a folder; remove it", folder);
  if (status.st_uid != geteuid()) {
    return Fail("{} belongs to user {}; set XDG_RUNTIME_DIR to a folder of this user", folder,
                status.st_uid);
  }
  if ((status.st_mode & 022) != 0)
    return Fail("other users may write to {}; run chmod 700 on it", folder);
  return {};
}

std::string Acceptance(std::string_view text) {
  return std::string(control::kOk) + control::OneLine(text);
}

std::string Refusal(std::string_view why) {
  return std::string(control::kError) + control::OneLine(why);
}

template <class T>
Result<T> Call(const std::function<Result<T>()>& handler, control::Command command) {
  if (handler) return handler();
  return Fail("{} is not possible with this recording",
              control::kCommandNames[static_cast<size_t>(command)]);
}

}  // namespace

Result<void> Control::Begin(Handlers handlers, const std::string& folder, int64_t patience_ms) {
  if (running_) return Fail("already listening for jprof ctl");
  handlers_ = std::move(handlers);
  user_ = geteuid();
  patience_ms_ = patience_ms;
  path_ = folder + "/" + control::SocketName(getpid());
  auto ready = PrepareFolder(folder);
  if (!ready) return ready;
  RemoveStale(folder);
  if (ready = Listen(); ready) ready = StartThread();
  if (!ready) CloseAll();
  return ready;
}

Result<void> Control::Listen() {
  const auto address = AddressOf(path_);
  if (!address)
    return Fail("{} is too long for a socket; set XDG_RUNTIME_DIR to a shorter path", path_);
  if (IsStale(path_)) unlink(path_.c_str());  // of an earlier process with this pid
  listener_.Reset(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!listener_) return Fail("cannot create a socket for jprof ctl: {}", ErrnoText());
  if (bind(listener_.get(), Generic(*address), sizeof *address) != 0) {
    listener_.Reset();  // the socket at this path belongs to another process
    return Fail("cannot create the socket {}: {}", path_, ErrnoText());
  }
  // No client can connect before listen().
  if (chmod(path_.c_str(), 0600) != 0 || listen(listener_.get(), kMostClients) != 0) {
    return Fail("cannot listen at {}: {}", path_, ErrnoText());
  }
  return {};
}

Result<void> Control::StartThread() {
  const BlockedSignals blocked;  // the new thread inherits the mask
  const auto serve = [](void* control) -> void* {
    pthread_setname_np(pthread_self(), "jprof control");
    static_cast<Control*>(control)->Serve();
    return nullptr;
  };
  running_ = true;  // before the thread looks
  const int error = pthread_create(&thread_, nullptr, serve, this);
  if (error != 0) {
    running_ = false;
    return Fail("cannot create a thread for jprof ctl: {}", ErrnoText(error));
  }
  return {};
}

void Control::End() {
  if (!running_) return;
  running_ = false;
  {
    const std::lock_guard guard(listener_lock_);
    if (listener_.get() >= 0) shutdown(listener_.get(), SHUT_RDWR);  // wakes the thread
  }
  pthread_join(thread_, nullptr);
  CloseAll();
}

void Control::CloseAll() {
  if (listener_) unlink(path_.c_str());
  listener_.Reset();
  for (Client& client : clients_) client.fd.Reset();
}

void Control::LeaveToParent() {
  running_ = false;
  listener_.Reset();
  for (Client& client : clients_) client.fd.Reset();
}

// The following functions run on the thread of the socket.

void Control::Serve() {
  for (;;) {
    Polled polled = PollSet();
    if (poll(polled.data(), polled.size(), PollTimeout()) < 0) {
      if (errno == EINTR) continue;
      return listener_.Reset();  // further connections are refused
    }
    if (!running_) return;
    ListenAgain();
    for (size_t i = 0; i < kMostClients; ++i) {
      if (polled[i + 1].revents != 0) Read(clients_[i]);
    }
    if (polled[0].revents != 0) Accept();
    DropSilentClients();
  }
}

// Listens again if the program has closed the socket, or if the last attempt failed.
void Control::ListenAgain() {
  const std::lock_guard guard(listener_lock_);
  if (!running_ || listener_.get() >= 0) return;
  listener_.Forget();
  if (!FailWithoutMemory([&] { return Listen(); })) listener_.Reset();
}

// Returns the descriptors to poll. poll() ignores negative ones.
Control::Polled Control::PollSet() const {
  Polled polled = {};
  polled[0] = {Now() < retry_accept_ms_ ? -1 : listener_.get(), POLLIN, 0};
  for (size_t i = 0; i < kMostClients; ++i) polled[i + 1] = {clients_[i].fd.get(), POLLIN, 0};
  return polled;
}

int Control::PollTimeout() const {
  const int64_t now = Now(), never = INT64_MAX;
  int64_t next = now < retry_accept_ms_ ? retry_accept_ms_ : never;
  for (const Client& client : clients_) {
    if (client.fd) next = std::min(next, client.until);
  }
  return static_cast<int>(std::clamp<int64_t>(next - now, 0, kLookMs));
}

void Control::Accept() {
  const int fd = accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0) {
    if (errno != EAGAIN && errno != ECONNABORTED) retry_accept_ms_ = Now() + kRetryAcceptMs;
    return;
  }
  if (!Allowed(fd)) {
    Send(fd, {Refusal("this JVM belongs to another user; only that user and root control it")});
    close(fd);
    return;
  }
  Client& client = FreeClient();
  client.fd.Reset(fd);
  client.number = ++clients_seen_;
  client.until = Now() + patience_ms_;
  client.size = 0;
}

bool Control::Allowed(int fd) const {
  ucred peer = {};
  socklen_t size = sizeof peer;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
  return peer.uid == user_ || peer.uid == 0;
}

// Returns a free client, or else the one that connected first.
Control::Client& Control::FreeClient() {
  return *std::ranges::min_element(
      clients_, {}, [](const Client& client) { return client.fd ? client.number : 0; });
}

void Control::Read(Client& client) {
  const ssize_t got = recv(client.fd.get(), client.text.data() + client.size,
                           client.text.size() - client.size, MSG_DONTWAIT);
  if (got < 0 && errno == EAGAIN) return;
  client.size += static_cast<size_t>(std::max<ssize_t>(got, 0));
  const std::string_view text(client.text.data(), client.size);
  const size_t end = text.find('\n');
  if (end != text.npos) {
    Send(client.fd.get(), Answer(text.substr(0, end)));
  } else if (got > 0 && client.size < client.text.size()) {
    return;  // the line is not complete
  } else if (client.size > 0) {
    Send(client.fd.get(), {Refusal("the request is not a complete line")});
  }
  client.fd.Reset();
}

// Sends a reply. Never blocks, because the reply fits into the socket's buffer.
void Control::Send(int fd, Reply reply) {
  reply.text.resize(std::min(reply.text.size(), control::kMaxAnswer - 1));
  reply.text += '\n';
  iovec text = {reply.text.data(), reply.text.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> space = {};
  msghdr message = {};
  message.msg_iov = &text;
  message.msg_iovlen = 1;
  if (reply.descriptor >= 0) {
    message.msg_control = space.data();
    message.msg_controllen = space.size();
    cmsghdr* const rights = CMSG_FIRSTHDR(&message);
    *rights = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
    std::memcpy(CMSG_DATA(rights), &reply.descriptor, sizeof(int));
  }
  if (sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0 || reply.descriptor < 0) return;
  Send(fd, {Refusal(fmt::format("cannot send the descriptor of the profile's folder: {}; nothing "
                                "was written to the disk, run `sync`",
                                ErrnoText()))});
}

Control::Reply Control::Answer(std::string_view line) const {
  try {
    const auto command = control::ParseRequest(line);
    return command ? Run(*command) : Reply{Refusal(command.error().message)};
  } catch (const std::exception& failure) {
    return {Refusal(failure.what())};
  }
}

Control::Reply Control::Run(control::Command command) const {
  using control::Command;
  if (command == Command::kStatus) {
    return {Acceptance(control::JoinFields(handlers_.status ? handlers_.status()
                                                            : std::vector<control::Field>()))};
  }
  if (command == Command::kFlush) {
    const auto folder = Call(handlers_.flush, command);
    if (!folder) return {Refusal(folder.error().message)};
    return {Acceptance("all recorded data is in the profile's files"), *folder};
  }
  const auto done = Call(command == Command::kStart  ? handlers_.start
                         : command == Command::kStop ? handlers_.stop
                                                     : handlers_.reset,
                         command);
  return {done ? Acceptance(*done) : Refusal(done.error().message)};
}

void Control::DropSilentClients() {
  const int64_t now = Now();
  for (Client& client : clients_) {
    if (client.fd && client.until <= now) client.fd.Reset();
  }
}

}  // namespace jprof::agent
