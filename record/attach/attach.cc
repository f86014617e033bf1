#include "record/attach/attach.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <optional>
#include <utility>

#include "common/control_protocol.h"
#include "common/errno_text.h"
#include "common/procfs.h"
#include "common/write_all.h"
#include "record/run/interruption.h"

namespace jprof::record {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr double kListenSeconds = 10;   // for the JVM to begin to listen
constexpr double kAnswerSeconds = 120;  // for the agent to start or to finish a profile
constexpr size_t kMostAnswer = size_t{1} << 16;

constexpr std::string_view kTunable =
    "; its other libraries have used up the thread-local storage that is reserved for libraries "
    "loaded later: start it with the environment variable "
    "GLIBC_TUNABLES=glibc.rtld.optional_static_tls=4096";

Clock::time_point In(double seconds) {
  return Clock::now() + std::chrono::microseconds(static_cast<int64_t>(seconds * 1e6));
}

int MillisecondsUntil(Clock::time_point end) {
  return static_cast<int>(
      std::max<int64_t>(0, std::chrono::ceil<milliseconds>(end - Clock::now()).count()));
}

// Waits for the end of the process. Returns early for a signal to this process.
void Wait(const AttachTarget& target, milliseconds time) {
  pollfd ended = {target.process.get(), POLLIN, 0};
  poll(&ended, 1, static_cast<int>(time.count()));
}

std::unexpected<Error> EndedMeanwhile(uint32_t pid) {
  return Fail("process {} ended or closed the connection before it answered", pid);
}

// Returns no descriptor only if the JVM does not listen: the signal that asks it to listen would
// make a JVM that already listens print its threads.
Result<Fd> Connect(const AttachTarget& target) {
  const std::string path = target.SocketPath();
  struct stat status = {};
  if (lstat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) return Fd();
    return Fail("cannot look for the socket of process {}: {}", target.pid, ErrnoText());
  }
  if (auto good = CheckSocket(status, target.ids.user); !good) return std::unexpected(good.error());
  Fd connection(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!connection) return Fail("cannot connect to process {}: {}", target.pid, ErrnoText());
  sockaddr_un address = {.sun_family = AF_UNIX};
  std::ranges::copy(path, address.sun_path);
  if (connect(connection.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
    return Fail("cannot connect to process {}: {}", target.pid, ErrnoText());
  ucred peer = {};
  socklen_t size = sizeof peer;
  if (getsockopt(connection.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
    return Fail("cannot tell which process answers for {}: {}", target.pid, ErrnoText());
  if (peer.pid == static_cast<pid_t>(target.pid)) return connection;
  return Fail("the socket {}/.java_pid{} is that of process {}, not of process {}; remove it",
              target.temporary_path, target.own_pid, peer.pid, target.pid);
}

// Makes the file that asks a JVM to listen, and removes it on destruction.
class AttachFile {
 public:
  static Result<AttachFile> Make(const AttachTarget& target) {
    AttachFile file;
    file.path_ = fmt::format("{}/.attach_pid{}", procfs::DescriptorPath(target.temporary.get()),
                             target.own_pid);
    const Fd made(open(file.path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (made) return file;
    const int error = errno;
    file.path_.clear();
    if (error != EEXIST)
      return Fail("cannot make a file in {} of process {}: {}", target.temporary_path, target.pid,
                  ErrnoText(error));
    return Fail(
        "another program attaches to process {}, or was killed while it did: try again, or remove "
        "{}/.attach_pid{} of that process",
        target.pid, target.temporary_path, target.own_pid);
  }
  AttachFile(AttachFile&& other) noexcept : path_(std::exchange(other.path_, "")) {}
  ~AttachFile() {
    if (!path_.empty()) unlink(path_.c_str());
  }

 private:
  AttachFile() = default;

  std::string path_;
};

bool SendQuit(const AttachTarget& target) {
  return syscall(SYS_pidfd_send_signal, target.process.get(), SIGQUIT, nullptr, 0) == 0;
}

// Makes the JVM listen, and tries to connect to it at growing intervals.
Result<Fd> ConnectAfterSignal(const AttachTarget& target, OnSignal on_signal) {
  const auto file = AttachFile::Make(target);
  if (!file) return std::unexpected(file.error());
  const auto end = In(kListenSeconds);
  if (!SendQuit(target)) return Fail("cannot signal process {}: {}", target.pid, ErrnoText());
  for (milliseconds pause(10); Clock::now() < end; pause = std::min(pause * 2, milliseconds(500))) {
    Wait(target, pause);
    if (target.Ended()) return EndedMeanwhile(target.pid);
    if (on_signal == OnSignal::kGiveUp && Interruption::Number() != 0)
      return Fail("interrupted; nothing was recorded");
    if (auto connection = Connect(target); !connection || *connection) return connection;
  }
  return Fail("process {} does not answer within {} s: {}", target.pid, kListenSeconds,
              target.WhySilent());
}

Result<Fd> ConnectTo(const AttachTarget& target, OnSignal on_signal) {
  auto connection = Connect(target);
  if (connection && !*connection) connection = ConnectAfterSignal(target, on_signal);
  return connection;
}

}  // namespace

std::optional<int> TakeNumber(std::string_view& text) {
  int number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(rest - text.data()));
  if (!text.empty() && text.front() != '\n') return std::nullopt;
  text.remove_prefix(std::min<size_t>(1, text.size()));
  return number;
}

Result<void> CheckSocket(const struct stat& status, uid_t user) {
  constexpr mode_t kOthers = S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH;
  if (S_ISSOCK(status.st_mode) && (status.st_uid == user || status.st_uid == 0) &&
      (status.st_mode & kOthers) == 0)
    return {};
  return Fail(
      "the socket of the JVM in /tmp does not belong to "
      "its user alone: another program made it; remove it");
}

Result<std::string> LoadRequest(std::string_view library, std::string_view options) {
  if (std::max(library.size(), options.size()) > kMostAttachArgument) {
    return WrongUse(
        "the options for the agent have {} bytes; a running JVM accepts {}: shorten the patterns "
        "or the path of the profile",
        std::max(library.size(), options.size()), kMostAttachArgument);
  }
  return AttachRequest("load", library, "true", options);
}

std::string AttachRequest(std::string_view command, std::string_view first, std::string_view second,
                          std::string_view third) {
  std::string request;
  for (const std::string_view word : {std::string_view("1"), command, first, second, third}) {
    request += word;
    request += '\0';
  }
  return request;
}

Result<std::string> ExchangeRequest(int connection, std::string_view request, uint32_t pid,
                                    double seconds, OnSignal on_signal) {
  if (SendAll(connection, request) != 0) return EndedMeanwhile(pid);
  const auto end = In(seconds);
  std::string answer;
  while (answer.size() < kMostAnswer) {
    pollfd polled = {connection, POLLIN, 0};
    const int ready = poll(&polled, 1, MillisecondsUntil(end));
    if (on_signal == OnSignal::kGiveUp && Interruption::Number() != 0)
      return Fail("interrupted while process {} was busy with the request", pid);
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0) return Fail("process {} did not answer within {} s", pid, seconds);
    char part[1024];
    const ssize_t got = recv(connection, part, sizeof part, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno != ECONNRESET)
      return Fail("cannot read the answer of process {}: {}", pid, ErrnoText());
    if (got <= 0) break;
    answer.append(part, static_cast<size_t>(got));
  }
  if (answer.empty()) return EndedMeanwhile(pid);
  return answer;
}

// Expects "0\nreturn code: 0\n" or, before JDK 9, "0\n0\n". After an error, a text follows the
// first line.
Result<int> ParseLoadAnswer(std::string_view answer, uint32_t pid) {
  constexpr std::string_view kReturned = "return code: ";
  const std::string_view whole = answer;
  const auto code = TakeNumber(answer);
  std::string_view rest = answer;
  if (rest.starts_with(kReturned)) rest.remove_prefix(kReturned.size());
  const auto result = TakeNumber(rest);
  if (code && result && whole.ends_with('\n')) return *result;
  while (answer.ends_with('\n')) answer.remove_suffix(1);
  const bool cut = kReturned.starts_with(answer) || answer.starts_with(kReturned);
  if (!code || cut || result)
    return Fail("process {} gave no complete answer: '{}'", pid, control::OneLine(whole));
  const bool no_storage = answer.contains("static TLS block");
  return Fail("process {} cannot load the agent: {}{}", pid, control::OneLine(answer),
              no_storage ? kTunable : "");
}

Result<std::string> Ask(const AttachTarget& target, std::string_view request, OnSignal on_signal,
                        double seconds) {
  const ScopedUser user(target.ids);
  const auto connection = ConnectTo(target, on_signal);
  if (!connection) return std::unexpected(connection.error());
  return ExchangeRequest(connection->get(), request, target.pid, seconds, on_signal);
}

Result<int> LoadAgent(const AttachTarget& target, const std::string& library,
                      const std::string& options, OnSignal on_signal) {
  const auto request = LoadRequest(library, options);
  if (!request) return std::unexpected(request.error());
  const ScopedUser user(target.ids);
  const auto connection = ConnectTo(target, on_signal);
  if (!connection) return std::unexpected(connection.error());
  const auto answer = ExchangeRequest(connection->get(), *request, target.pid, kAnswerSeconds);
  if (!answer) return std::unexpected(answer.error());
  return ParseLoadAnswer(*answer, target.pid);
}

}  // namespace jprof::record
