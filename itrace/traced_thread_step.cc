#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>

#include "itrace/traced_thread.h"

namespace jprof::itrace {

using Kind = StepInstruction::Kind;
using profile::BranchKind;

namespace {

constexpr int kSystemCallStop = SIGTRAP | 0x80;
constexpr uint64_t kTrapFlag = 0x100;

// Describes the effects of a system call that the tracer has to know.
struct CallEffects {
  bool mask = false;      // sets the blocked signals
  bool makes = false;     // makes a thread or a process, or executes a program
  bool affinity = false;  // reads or writes the processors of a thread
  bool maps = false;      // changes mappings
};

CallEffects EffectsOf(long number) {
  switch (number) {
    case SYS_rt_sigprocmask:
    case SYS_rt_sigreturn:
      return {.mask = true};
    case SYS_clone:
    case SYS_clone3:
#ifdef SYS_fork
    case SYS_fork:
    case SYS_vfork:
#endif
    case SYS_execve:
    case SYS_execveat:
      return {.makes = true, .affinity = true};
    case SYS_sched_getaffinity:
    case SYS_sched_setaffinity:
      return {.affinity = true};
    case SYS_mmap:
    case SYS_munmap:
    case SYS_mremap:
    case SYS_mprotect:
      return {.maps = true};
    default:
      return {};
  }
}

}  // namespace

// Executes the instruction at the original address in `registers_`, or delivers a signal there.
void TracedThread::BeginStep() {
  std::array<uint8_t, 16> code;
  const size_t size = context_.tracee.Read(registers_.pc(), code);
  step_ = {.pc = registers_.pc(),
           .repeat = registers_.repeat(),
           .instruction = DecodeStep(std::span(code).first(size), registers_.pc())};
  step_.restarts = registers_.RestartsSystemCall();
  BeginStepReferences(std::span(code).first(size));
  if (step_.instruction.kind == Kind::kSystemCall && !deliver_) BeforeSystemCall();
  SetRegisters(tid_, registers_);
  int signal = 0;
  if (deliver_) {
    signal = deliver_->si_signo;
    step_.signalled = true;
    ShowMask();
    SetSignalInfo(tid_, *deliver_);
    deliver_.reset();
  }
  mode_ = Mode::kStepping;
  StartStep(signal);
}

void TracedThread::StartStep(int signal) {
  if (step_.by_system_call) {
    ContinueToSystemCall(tid_, signal);
  } else {
    SingleStep(tid_, signal);
  }
}

void TracedThread::OnStepStop(const Stop& stop) {
  if (stop.event() != 0) return StartStep();
  if (stop.signal() == kSystemCallStop) {
    if (!step_.entered) {
      step_.entered = true;
      return StartStep();
    }
    GetRegisters(tid_, registers_);
    return FinishStep();
  }
  const auto info = SignalInfo(tid_);
  if (!info || !GetRegisters(tid_, registers_)) return;
  if (stop.signal() == SIGTRAP) {
    if (info->si_code == SIGTRAP) return FinishHandlerEntry();
    if (info->si_code == TRAP_TRACE || info->si_code == TRAP_BRKPT) return FinishStep();
  }
  // This is another signal: it came before the instruction, by it, or while it waited in the
  // kernel.
  const bool executed = registers_.pc() != step_.pc &&
                        (step_.instruction.kind == Kind::kSystemCall || stop.signal() == SIGTRAP);
  if (executed) {
    CountOne();
    EndStepReferences(true);
    if (step_.instruction.kind == Kind::kSystemCall) {
      AfterSystemCall();
      Record(BranchKind::kSystemCall, step_.pc, registers_.pc());
    }
  } else if (step_.instruction.repeats) {
    pending_repeats_ += step_.repeat - registers_.repeat();
    EndStepReferences(false);
  }
  deliver_ = *info;
  BeginStep();
}

// Records the entry of a signal handler, whose first instruction the thread is at.
void TracedThread::FinishHandlerEntry() {
  ++totals_.signals;
  Record(BranchKind::kSignal, step_.pc, registers_.pc());
  HideMask();
  Go();
}

void TracedThread::FinishStep() {
  const uint64_t to = registers_.pc();
  if (step_.instruction.repeats) {
    pending_repeats_ += step_.repeat - registers_.repeat();
    if (to == step_.pc) {  // one iteration of several
      step_.repeat = registers_.repeat();
      return StartStep();
    }
  }
  if (step_.restarts) {  // a signal that is ignored interrupted a system call
    step_.pc -= 2;
    step_.instruction.kind = Kind::kSystemCall;
  }
  RemoveTrapFlag();
  CountOne();
  EndStepReferences(true);
  BranchKind kind = BranchOf(step_.instruction, to);
  if (kind == BranchKind::kSystemCall) AfterSystemCall();
  if (step_.number == SYS_rt_sigreturn) kind = BranchKind::kSignalReturn;
  if (kind == BranchKind::kNotTaken && !context_.options.not_taken) kind = BranchKind::kEnd;
  if (kind != BranchKind::kEnd) Record(kind, step_.pc, to);
  if (step_.by_system_call || step_.signalled) HideMask();
  Go();
}

// Removes the trap flag of stepping from flags that a stepped instruction has stored.
void TracedThread::RemoveTrapFlag() {
#if defined(__x86_64__)
  if (step_.instruction.kind == Kind::kSystemCall && !step_.by_system_call)
    registers_.raw.r11 &= ~kTrapFlag;
  if (!step_.instruction.pushes_flags) return;
  uint16_t flags = 0;
  const std::span<uint8_t> bytes(reinterpret_cast<uint8_t*>(&flags), sizeof(flags));
  if (context_.tracee.Read(registers_.sp(), bytes) != sizeof(flags)) return;
  flags = static_cast<uint16_t>(flags & ~kTrapFlag);
  context_.tracee.Write(registers_.sp(), bytes);
#endif
}

void TracedThread::BeforeSystemCall() {
  step_.number = static_cast<long>(registers_.system_call());
  for (int i = 0; i < 6; ++i) step_.arguments[i] = registers_.argument(i);
  const CallEffects effects = EffectsOf(step_.number);
  step_.by_system_call = effects.mask || effects.makes;
  if (effects.mask || effects.makes) ShowMask();
  if (effects.affinity) Unpin();
}

void TracedThread::AfterSystemCall() {
  ++totals_.system_calls;
  const CallEffects effects = EffectsOf(step_.number);
  if (effects.affinity) Pin();
  if (!effects.maps) return;
  context_.tracee.MapsChanged();
  const uint64_t start = step_.arguments[0], end = start + step_.arguments[1];
  if (cache_ && end > start && cache_->Touches(start, end)) cache_->Flush();
  const bool executable = (step_.arguments[2] & PROT_EXEC) != 0 &&
                          (step_.number == SYS_mmap || step_.number == SYS_mprotect);
  if (executable) context_.events.OnMapped(totals_.pid);
}

}  // namespace jprof::itrace
