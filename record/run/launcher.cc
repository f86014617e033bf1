#include "record/run/launcher.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "common/errno_text.h"
#include "common/monotonic.h"
#include "common/write_all.h"
#include "record/run/pipe.h"

namespace jprof::record {
namespace {

constexpr int kPassedOn[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
constexpr int kInterruptions[] = {SIGINT, SIGTERM, SIGHUP};
constexpr timespec kBetweenLooks = {0, 100'000'000};

// The signal mask and SIGCHLD action that this process started with; the program inherits them.
// Other ignored signals (nohup) need no care. SIGCHLD must not be ignored here, or the kernel would
// discard the program's status.
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

// Returns the signals that Wait() receives.
sigset_t AwaitedSignals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  for (const int number : kPassedOn) sigaddset(&set, number);
  return set;
}

// Resets the handlers of jprof in the new process, in which all signals are blocked.
void ResetHandlers() {
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction action;
    if (sigaction(number, nullptr, &action) != 0 || action.sa_handler == SIG_IGN) continue;
    signal(number, SIG_DFL);
  }
}

// Redirects a stream of the new process. The duplicate stays open when the program is executed; a
// descriptor that already has the right number is changed so that it does.
void Redirect(int from, int to) {
  if (from == to) fcntl(to, F_SETFD, 0);
  if (from >= 0 && from != to) dup2(from, to);
}

// Executes the program in the new process, or writes the errno to `report`.
[[noreturn]] void Execute(const Launch& launch, const SignalsBefore& signals, int report,
                          const Streams& streams = {}) {
  Redirect(streams.input, STDIN_FILENO);
  Redirect(streams.output, STDOUT_FILENO);
  if (launch.java_tool_options) setenv("JAVA_TOOL_OPTIONS", launch.java_tool_options->c_str(), 1);
  for (const auto& [name, value] : launch.environment) setenv(name.c_str(), value.c_str(), 1);
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

// Returns the number of bytes read, or a number below 0 after an error.
ssize_t ReadUninterrupted(int fd, void* buffer, size_t size) {
  ssize_t got;
  do {
    got = read(fd, buffer, size);
  } while (got < 0 && errno == EINTR);
  return got;
}

// Returns the errno of a failed start, or 0 if the program runs. The pipe is closed when the
// program is executed.
int StartFailure(const Fd& report) {
  int reason = 0;
  return ReadUninterrupted(report.get(), &reason, sizeof(reason)) == sizeof(reason) ? reason : 0;
}

// Makes sockets instead of a pipe, so that writing to an ended program need not end this process
// (MSG_NOSIGNAL).
Result<Pipe> MakeSocketPair() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return Fail("cannot make a pair of sockets: {}", ErrnoText());
  return Pipe{Fd(ends[0]), Fd(ends[1])};
}

std::unexpected<Error> CannotStart(const std::string& program, int error) {
  return WrongUse("cannot start {}: {}", program, ErrnoText(error));
}

double SecondsOf(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

// Returns whether a signal asks to stop (SIGQUIT makes a JVM print its threads) and is not ignored.
bool Interrupts(int number) {
  if (std::ranges::count(kInterruptions, number) == 0) return false;
  struct sigaction action;
  return sigaction(number, nullptr, &action) == 0 && action.sa_handler != SIG_IGN;
}

Outcome Wait(pid_t program, const sigset_t& signals, const ProcessObserver& observe) {
  int interruption = 0;
  for (;;) {
    siginfo_t info;
    if (observe) observe(static_cast<uint32_t>(program));
    const int number = sigtimedwait(&signals, &info, observe ? &kBetweenLooks : nullptr);
    if (number > 0 && number != SIGCHLD) {
      if (info.si_code != SI_KERNEL) kill(program, number);
      if (Interrupts(number)) interruption = number;
      continue;
    }
    int status = 0;
    rusage usage = {};
    if (wait4(program, &status, WNOHANG, &usage) != program) continue;
    Outcome outcome = OutcomeOf(status);
    outcome.cpu_seconds = SecondsOf(usage.ru_utime) + SecondsOf(usage.ru_stime);
    outcome.page_faults = static_cast<uint64_t>(usage.ru_minflt + usage.ru_majflt);
    outcome.interruption = interruption;
    return outcome;
  }
}

// Waits in the new process for the byte that releases it. Ends the process if none comes.
void AwaitByte(Pipe& go) {
  go.write.Reset();  // so that the read ends when the parent does
  char byte;
  if (ReadUninterrupted(go.read.get(), &byte, 1) != 1) _exit(127);
}

// Waits in the new process for the byte that releases it, and then executes the program.
[[noreturn]] void AwaitRelease(const Launch& launch, const SignalsBefore& before, Pipe& go,
                               const Fd& report) {
  ResetHandlers();
  sigprocmask(SIG_SETMASK, &before.mask, nullptr);
  AwaitByte(go);
  Execute(launch, before, report.get());
}

}  // namespace

Outcome OutcomeOf(int status) {
  if (WIFSIGNALED(status)) return {.signal = WTERMSIG(status)};
  return {.status = WEXITSTATUS(status)};
}

Result<Outcome> Run(const Launch& launch, const Streams& streams, const ProcessObserver& observe) {
  auto report = MakePipe(), go = MakePipe();
  if (!report) return std::unexpected(report.error());
  if (!go) return std::unexpected(go.error());
  const sigset_t signals = AwaitedSignals();
  const SignalsBefore before = BlockSignals(signals);
  const int64_t start = MonotonicNanos();
  const pid_t program = fork();
  if (program == 0) {
    ResetHandlers();
    if (launch.before_exec) AwaitByte(*go);
    Execute(launch, before, report->write.get(), streams);
  }
  int reason = program < 0 ? errno : 0;
  report->write.Reset();
  if (program > 0 && launch.before_exec) {
    launch.before_exec(static_cast<uint32_t>(program));
    (void)!write(go->write.get(), "g", 1);
  }
  if (program > 0) reason = StartFailure(report->read);
  std::optional<Outcome> outcome;
  if (reason == 0) outcome = Wait(program, signals, observe);
  if (outcome) outcome->wall_seconds = static_cast<double>(MonotonicNanos() - start) / 1e9;
  if (program > 0 && reason != 0) waitpid(program, nullptr, 0);
  sigprocmask(SIG_SETMASK, &before.mask, nullptr);
  if (!outcome) return CannotStart(launch.program.string(), reason);
  return *outcome;
}

HeldProgram::HeldProgram(std::string name, int pid, Fd go, Fd report)
    : name_(std::move(name)), pid_(pid), go_(std::move(go)), report_(std::move(report)) {}

HeldProgram::HeldProgram(HeldProgram&& other) noexcept
    : name_(std::move(other.name_)),
      pid_(std::exchange(other.pid_, 0)),
      go_(std::move(other.go_)),
      report_(std::move(other.report_)),
      reaped_(other.reaped_) {}

HeldProgram::~HeldProgram() {
  if (!go_) return;  // released, or moved from
  go_.Reset();       // ends the read of the new process without a byte, so that it exits
  if (!reaped_) waitpid(pid_, nullptr, 0);
}

Result<HeldProgram> HeldProgram::Start(const Launch& launch) {
  auto go = MakeSocketPair();
  if (!go) return std::unexpected(go.error());
  auto report = MakePipe();
  if (!report) return std::unexpected(report.error());
  sigset_t all;
  sigfillset(&all);
  const SignalsBefore before = BlockSignals(all);
  const pid_t program = fork();
  const int error = errno;
  if (program == 0) AwaitRelease(launch, before, *go, report->write);
  sigprocmask(SIG_SETMASK, &before.mask, nullptr);
  if (program < 0) return Fail("cannot start {}: {}", launch.program.string(), ErrnoText(error));
  return HeldProgram(launch.program.string(), program, std::move(go->write),
                     std::move(report->read));
}

// Succeeds if a signal has already ended the program. Ended() then has its outcome.
Result<void> HeldProgram::Release() {
  auto released = ReleaseTraced();
  if (released) return released;
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  return released;
}

Result<void> HeldProgram::ReleaseTraced() {
  (void)SendAll(go_.get(), "g");
  go_.Reset();
  const int reason = StartFailure(report_);
  report_.Reset();
  if (reason == 0) return {};
  reaped_ = true;
  return CannotStart(name_, reason);
}

std::optional<Outcome> HeldProgram::Ended() {
  int status = 0;
  if (reaped_ || waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
  reaped_ = true;
  return OutcomeOf(status);
}

void HeldProgram::AwaitEnd(int milliseconds) const {
  const Fd process(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
  pollfd end = {process.get(), POLLIN, 0};
  poll(&end, 1, milliseconds);  // only a pause if the kernel has no pidfds
}

void HeldProgram::Signal(int number) const {
  if (!reaped_ && pid_ > 0) kill(pid_, number);
}

}  // namespace jprof::record
