#include "itrace/ptrace.h"

#include <elf.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include <cerrno>
#include <string>

#include "common/errno_text.h"
#include "common/procfs.h"

namespace jprof::itrace {
namespace {

// Calls ptrace. glibc's header declares its requests as an enumeration without all of them.
template <typename Data>
long Request(int request, pid_t tid, uintptr_t address, Data data) {
  return ptrace(static_cast<__ptrace_request>(request), tid, reinterpret_cast<void*>(address),
                data);
}
void* Number(uint64_t value) { return reinterpret_cast<void*>(value); }

constexpr int kGetSigMask = 0x420a, kSetSigMask = 0x420b;
constexpr uintptr_t kMaskBytes = 8;
constexpr uint64_t kAlways = PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT | PTRACE_O_TRACESYSGOOD;
constexpr uint64_t kFollow = PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK;

std::string WhyNot(int error) {
  if (error != EPERM) return ErrnoText(error);
  std::string text = ErrnoText(error) + "; it belongs to another user or another program traces it";
  const auto scope = procfs::KernelSetting("yama/ptrace_scope");
  if (scope && *scope > 0) {
    text += fmt::format(", or kernel.yama.ptrace_scope = {} forbids it (0 allows it)", *scope);
  }
  return text + ": use root or CAP_SYS_PTRACE";
}

}  // namespace

// These functions handle the kernel's own error numbers, which a traced thread shows while a signal
// is handled.
#if defined(__x86_64__)
bool Registers::RestartsSystemCall() const {
  const auto result = -static_cast<int64_t>(raw.rax);
  return static_cast<int64_t>(raw.orig_rax) >= 0 && result >= 512 && result <= 516 && result != 515;
}
void Registers::RestartSystemCall() {
  constexpr int64_t kRestartBlock = -516;
  constexpr uint64_t kRestartSystemCall = 219;
  const bool block = static_cast<int64_t>(raw.rax) == kRestartBlock;
  raw.rax = block ? kRestartSystemCall : raw.orig_rax;
  raw.orig_rax = ~uint64_t{0};
  raw.rip -= 2;
}
#else
bool Registers::RestartsSystemCall() const { return false; }
void Registers::RestartSystemCall() {}
#endif

Result<void> SeizeThread(pid_t tid, bool follow) {
  if (Request(PTRACE_SEIZE, tid, 0, Number(follow ? kAlways | kFollow : kAlways)) == 0) return {};
  return Fail("cannot trace thread {}: {}", tid, WhyNot(errno));
}

bool SetTraceOptions(pid_t tid, bool follow) {
  return Request(PTRACE_SETOPTIONS, tid, 0, Number(follow ? kAlways | kFollow : kAlways)) == 0;
}
bool Interrupt(pid_t tid) { return Request(PTRACE_INTERRUPT, tid, 0, nullptr) == 0; }
bool Detach(pid_t tid, int signal) {
  return Request(PTRACE_DETACH, tid, 0, Number(static_cast<uint64_t>(signal))) == 0;
}

bool GetRegisters(pid_t tid, Registers& registers) {
  iovec part = {&registers.raw, sizeof(registers.raw)};
  return Request(PTRACE_GETREGSET, tid, NT_PRSTATUS, &part) == 0;
}
bool SetRegisters(pid_t tid, const Registers& registers) {
  iovec part = {const_cast<user_regs_struct*>(&registers.raw), sizeof(registers.raw)};
  return Request(PTRACE_SETREGSET, tid, NT_PRSTATUS, &part) == 0;
}

bool Continue(pid_t tid, int signal) {
  return Request(PTRACE_CONT, tid, 0, Number(static_cast<uint64_t>(signal))) == 0;
}
bool SingleStep(pid_t tid, int signal) {
  return Request(PTRACE_SINGLESTEP, tid, 0, Number(static_cast<uint64_t>(signal))) == 0;
}
bool ContinueToSystemCall(pid_t tid, int signal) {
  return Request(PTRACE_SYSCALL, tid, 0, Number(static_cast<uint64_t>(signal))) == 0;
}
bool Listen(pid_t tid) { return Request(PTRACE_LISTEN, tid, 0, nullptr) == 0; }

std::optional<siginfo_t> SignalInfo(pid_t tid) {
  siginfo_t info = {};
  if (Request(PTRACE_GETSIGINFO, tid, 0, &info) != 0) return std::nullopt;
  return info;
}
bool SetSignalInfo(pid_t tid, const siginfo_t& info) {
  return Request(PTRACE_SETSIGINFO, tid, 0, const_cast<siginfo_t*>(&info)) == 0;
}
uint64_t EventMessage(pid_t tid) {
  unsigned long message = 0;
  Request(PTRACE_GETEVENTMSG, tid, 0, &message);
  return message;
}
std::optional<uint64_t> SignalMask(pid_t tid) {
  uint64_t mask = 0;
  if (Request(kGetSigMask, tid, kMaskBytes, &mask) != 0) return std::nullopt;
  return mask;
}
bool SetSignalMask(pid_t tid, uint64_t mask) {
  return Request(kSetSigMask, tid, kMaskBytes, &mask) == 0;
}

bool Stop::ended() const { return WIFEXITED(status) || WIFSIGNALED(status); }
int Stop::signal() const { return WSTOPSIG(status); }

bool AwaitStop(pid_t tid, Stop& stop) {
  pid_t got;
  do {
    got = waitpid(tid, &stop.status, __WALL);
  } while (got < 0 && errno == EINTR);
  return got == tid;
}

}  // namespace jprof::itrace
