#include "record/launcher.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "common/errno_text.h"

namespace jprof::record {
namespace {

constexpr int kPassedOn[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

// How this process was started to treat signals; its program is to treat them so, too. Those that
// are ignored stay so by themselves (nohup), but for SIGCHLD: were it ignored here, the program's
// status would be thrown away.
struct SignalsBefore {
  sigset_t mask;
  sighandler_t child;
};

SignalsBefore BlockSignals(const sigset_t& set) {
  SignalsBefore before;
  before.child = signal(SIGCHLD, SIG_DFL);
  sigprocmask(SIG_BLOCK, &set, &before.mask);
  return before;
}

// What Wait() takes one by one.
sigset_t AwaitedSignals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  for (const int number : kPassedOn) sigaddset(&set, number);
  return set;
}

// In a new process with all signals blocked: as if it had been executed. Handlers are of this
// program, and its own are not there yet.
void DropHandlers() {
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction action;
    if (sigaction(number, nullptr, &action) != 0 || action.sa_handler == SIG_IGN) continue;
    signal(number, SIG_DFL);
  }
}

// In the new process: becomes the program, or tells why not through `report`.
[[noreturn]] void Become(const Launch& launch, const SignalsBefore& signals, int report) {
  if (launch.java_tool_options) setenv("JAVA_TOOL_OPTIONS", launch.java_tool_options->c_str(), 1);
  std::vector<char*> arguments;
  for (const std::string& argument : launch.arguments)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  if (signals.child == SIG_IGN) signal(SIGCHLD, SIG_IGN);
  sigprocmask(SIG_SETMASK, &signals.mask, nullptr);
  execvp(launch.program.c_str(), arguments.data());
  const int reason = errno;
  (void)!write(report, &reason, sizeof(reason));
  _exit(127);
}

// The errno of a failed start; 0 = it runs. The pipe closes when the program is executed.
int StartFailure(int report) {
  int reason = 0;
  ssize_t got;
  do {
    got = read(report, &reason, sizeof(reason));
  } while (got < 0 && errno == EINTR);
  return got == sizeof(reason) ? reason : 0;
}

Outcome Wait(pid_t program, const sigset_t& signals) {
  for (;;) {
    siginfo_t info;
    const int number = sigwaitinfo(&signals, &info);
    if (number > 0 && number != SIGCHLD) {
      if (info.si_code != SI_KERNEL) kill(program, number);
      continue;
    }
    int status = 0;
    if (waitpid(program, &status, WNOHANG) != program) continue;
    if (WIFSIGNALED(status)) return {.signal = WTERMSIG(status)};
    return {.status = WEXITSTATUS(status)};
  }
}

}  // namespace

Result<Outcome> Run(const Launch& launch) {
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0) return Fail("cannot make a pipe: {}", ErrnoText());
  const sigset_t signals = AwaitedSignals();
  const SignalsBefore before = BlockSignals(signals);
  const pid_t program = fork();
  if (program == 0) Become(launch, before, report[1]);
  close(report[1]);
  const int reason = program < 0 ? errno : StartFailure(report[0]);
  close(report[0]);
  if (program > 0 && reason == 0) {
    const Outcome outcome = Wait(program, signals);
    sigprocmask(SIG_SETMASK, &before.mask, nullptr);
    return outcome;
  }
  if (program > 0) waitpid(program, nullptr, 0);
  sigprocmask(SIG_SETMASK, &before.mask, nullptr);
  return WrongUse("cannot start {}: {}", launch.program.string(), ErrnoText(reason));
}

HeldProgram::HeldProgram(std::string name, int pid, int go, int report)
    : name_(std::move(name)), pid_(pid), go_(go), report_(report) {}

HeldProgram::HeldProgram(HeldProgram&& other) noexcept
    : name_(std::move(other.name_)),
      pid_(std::exchange(other.pid_, 0)),
      go_(std::exchange(other.go_, -1)),
      report_(std::exchange(other.report_, -1)),
      reaped_(other.reaped_) {}

HeldProgram::~HeldProgram() {
  if (report_ >= 0) close(report_);
  if (go_ < 0) return;
  close(go_);  // its read ends without a byte: it exits
  if (pid_ > 0 && !reaped_) waitpid(pid_, nullptr, 0);
}

Result<HeldProgram> HeldProgram::Start(const Launch& launch) {
  int go[2], report[2];
  // Not a pipe: writing to a program that a signal has ended must not end us (MSG_NOSIGNAL).
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, go) != 0)
    return Fail("cannot make a pair of sockets: {}", ErrnoText());
  if (pipe2(report, O_CLOEXEC) != 0) {
    const int error = errno;
    close(go[0]);
    close(go[1]);
    return Fail("cannot make a pipe: {}", ErrnoText(error));
  }
  sigset_t all;
  sigfillset(&all);
  const SignalsBefore before = BlockSignals(all);
  const pid_t program = fork();
  const int error = errno;
  if (program == 0) {
    DropHandlers();
    sigprocmask(SIG_SETMASK, &before.mask, nullptr);
    close(go[1]);
    char byte;
    ssize_t got;
    do {
      got = read(go[0], &byte, 1);
    } while (got < 0 && errno == EINTR);
    if (got != 1) _exit(127);
    Become(launch, before, report[1]);
  }
  sigprocmask(SIG_SETMASK, &before.mask, nullptr);
  close(go[0]);
  close(report[1]);
  if (program > 0) return HeldProgram(launch.program.string(), program, go[1], report[0]);
  close(go[1]);
  close(report[0]);
  return Fail("cannot start {}: {}", launch.program.string(), ErrnoText(error));
}

// A program that a signal has ended meanwhile is not told apart here: Ended() has its outcome.
Result<void> HeldProgram::Release() {
  const char byte = 1;
  (void)!send(go_, &byte, 1, MSG_NOSIGNAL);
  close(std::exchange(go_, -1));
  const int reason = StartFailure(report_);
  close(std::exchange(report_, -1));
  if (reason == 0) return {};
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  reaped_ = true;
  return WrongUse("cannot start {}: {}", name_, ErrnoText(reason));
}

std::optional<Outcome> HeldProgram::Ended() {
  int status = 0;
  if (reaped_ || waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
  reaped_ = true;
  if (WIFSIGNALED(status)) return Outcome{.signal = WTERMSIG(status)};
  return Outcome{.status = WEXITSTATUS(status)};
}

void HeldProgram::AwaitEnd(int milliseconds) const {
  const int descriptor = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
  pollfd end = {descriptor, POLLIN, 0};
  poll(&end, 1, milliseconds);  // a kernel without pidfds: a plain pause
  if (descriptor >= 0) close(descriptor);
}

void HeldProgram::Signal(int number) const {
  if (!reaped_ && pid_ > 0) kill(pid_, number);
}

}  // namespace jprof::record
