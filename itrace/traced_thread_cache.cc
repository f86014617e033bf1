#include <sys/wait.h>

#include <algorithm>

#include "itrace/traced_thread.h"

namespace jprof::itrace {

using State = CodePoint::State;

namespace {

constexpr uint64_t kNotBlocked = uint64_t{1} << (SIGTRAP - 1) | uint64_t{1} << (SIGSEGV - 1);
constexpr int kMostStepsToPlace = 1000;

// Returns whether the instruction caused the signal.
bool IsFault(const siginfo_t& info) {
  if (info.si_code <= 0) return false;
  return info.si_signo == SIGSEGV || info.si_signo == SIGBUS || info.si_signo == SIGILL ||
         info.si_signo == SIGFPE || info.si_signo == SIGTRAP;
}
uint64_t AddressOf(const siginfo_t& info) { return reinterpret_cast<uint64_t>(info.si_addr); }

#if defined(__x86_64__)
void SetRax(Registers& registers, uint64_t value) { registers.raw.rax = value; }
void SetRcx(Registers& registers, uint64_t value) { registers.raw.rcx = value; }
#else
void SetRax(Registers&, uint64_t) {}
void SetRcx(Registers&, uint64_t) {}
#endif

}  // namespace

void TracedThread::OnCacheStop(const Stop& stop) {
  if (stop.event() != 0) {  // a system call or a stop of the process: it continues
    Continue(tid_);
    return;
  }
  const auto info = SignalInfo(tid_);
  if (!info || !GetRegisters(tid_, registers_)) return;
  const uint64_t before = registers_.pc() - 1;
  if (stop.signal() == SIGTRAP && info->si_code == SI_KERNEL) {
    if (cache_->IsMiss(before)) return OnMiss();
    const Translation* translation = cache_->Find(before);
    const CodeTrap* trap =
        translation == nullptr ? nullptr : CodeCache::TrapAt(*translation, before);
    if (trap != nullptr) {
      registers_.set_pc(before);
      return OnTrap(*translation, *trap);
    }
  }
  if (stop.signal() == SIGSEGV && info->si_code > 0 && cache_->InGuard(AddressOf(*info))) {
    if (OnRingFull()) ResumeInCache();
    return;
  }
  OnCacheSignal(*info);
}

void TracedThread::OnTrap(const Translation& translation, const CodeTrap& trap) {
  const uint64_t at = translation.at + trap.offset;
  const CodePoint* point = CodeCache::PointAt(translation, at);
  switch (trap.type) {
    case CodeTrap::Type::kUnlinked:
      return OnUnlinked(translation, trap);
    case CodeTrap::Type::kStop: {
      Registers here = registers_;
      registers_.set_pc(point->original);
      const bool end = AtEnd();
      registers_ = here;
      if (end) {
        LeaveAt(*point);
        return ParkHere();
      }
      registers_.set_pc(translation.at + trap.resume);
      return ResumeInCache();
    }
    case CodeTrap::Type::kStep:
      LeaveAt(*point);
      if (AtEnd()) return ParkHere();
      return BeginStep();
    case CodeTrap::Type::kChanged:
      ++totals_.changed;
      LeaveAt(*point);
      cache_->Renew(translation);
      return Go();
  }
}

// Links an exit by which the thread leaves. The exit is in the ring already.
void TracedThread::OnUnlinked(const Translation& translation, const CodeTrap& trap) {
  const CodeExit exit = translation.exits[trap.exit];
  const uint64_t flushes = cache_->flushes();
  const uint64_t entry = Translated(exit.to, false);
  if (entry == 0) {
    Drain();
    registers_.set_pc(exit.to);
    return Go();
  }
  if (cache_->flushes() == flushes) cache_->Link(translation, trap.exit, entry);
  registers_.set_pc(entry);
  ResumeInCache();
}

// Handles an indirect branch whose target is not in the table.
void TracedThread::OnMiss() {
  const DataArea& data = cache_->data();
  SetRax(registers_, data.rax);
  SetRcx(registers_, data.rcx);
  const uint64_t target = data.target;
  const uint64_t entry = Translated(target, true);
  if (entry == 0) {
    Drain();
    registers_.set_pc(target);
    return Go();
  }
  registers_.set_pc(entry);
  ResumeInCache();
}

// Empties the ring. The thread is before the instruction that writes an entry, with its address in
// rax. Returns false if it is parked or stepping now, because the limit of instructions is near.
bool TracedThread::OnRingFull() {
  Drain();
  if (context_.limit != 0 && context_.limit - totals_.instructions - pending_ <= 8 * 64) {
    ring_first_ = cache_->data().ring = cache_->ring_start();
    SetRax(registers_, ring_first_);
    SetRegisters(tid_, registers_);
    if (LeaveCache()) Go();
    return false;
  }
  SetRingWindow();
  SetRax(registers_, ring_first_);
  return true;
}

void TracedThread::OnCacheSignal(siginfo_t info) {
  const Translation* translation = cache_->Find(registers_.pc());
  const CodePoint* point =
      translation == nullptr ? nullptr : CodeCache::PointAt(*translation, registers_.pc());
  const bool between = point == nullptr || point->state == State::kBetween;
  if (IsFault(info) && between && translation != nullptr) {
    // If the original cannot be read any more, it is treated as changed.
    const auto changed =
        std::ranges::find(translation->traps, CodeTrap::Type::kChanged, &CodeTrap::type);
    if (changed != translation->traps.end()) {
      SetRcx(registers_, 1);
      registers_.set_pc(translation->at + changed->resume);
      return ResumeInCache();
    }
  }
  if (!LeaveCache()) return;
  const bool names_code =
      info.si_signo == SIGILL || info.si_signo == SIGFPE || info.si_signo == SIGTRAP;
  if (IsFault(info) && names_code && cache_->Contains(AddressOf(info)))
    info.si_addr = reinterpret_cast<void*>(registers_.pc());
  deliver_ = info;
  BeginStep();
}

// Makes the registers those of the program before the instruction at the point.
void TracedThread::LeaveAt(const CodePoint& point) {
  Drain();
  if (point.state == State::kAtWithRcx) SetRcx(registers_, cache_->data().rcx);
  SettleReferences(point);
  AddPartial(point);
  registers_.set_pc(point.original);
}

// Brings the thread to a place where the program could be, and its registers to the original
// address of it. Returns false if the thread ended.
bool TracedThread::LeaveCache() {
  std::optional<uint64_t> mask;
  bool alive = true;
  for (int i = 0; alive && i < kMostStepsToPlace; ++i) {
    const uint64_t pc = registers_.pc();
    if (cache_->IsMiss(pc)) {
      SetRax(registers_, cache_->data().rax);
      SetRcx(registers_, cache_->data().rcx);
      Drain();
      registers_.set_pc(cache_->data().target);
      break;
    }
    const Translation* translation = cache_->Find(pc);
    const CodeTrap* trap = translation == nullptr ? nullptr : CodeCache::TrapAt(*translation, pc);
    if (trap != nullptr && trap->type == CodeTrap::Type::kUnlinked) {
      Drain();
      registers_.set_pc(translation->exits[trap->exit].to);
      break;
    }
    const CodePoint* point =
        translation == nullptr ? nullptr : CodeCache::PointAt(*translation, pc);
    if (point != nullptr && point->state != State::kBetween) {
      LeaveAt(*point);
      break;
    }
    if (!mask) {
      mask = SignalMask(tid_);
      SetSignalMask(tid_, ~kNotBlocked);
    }
    alive = StepInCache();
  }
  if (mask) SetSignalMask(tid_, *mask);
  return alive;
}

bool TracedThread::StepInCache() {
  Stop stop;
  SetRegisters(tid_, registers_);
  if (!SingleStep(tid_) || !AwaitStop(tid_, stop) || stop.ended() || stop.event() == 6 ||
      !GetRegisters(tid_, registers_)) {
    Ended();
    if (stop.event() == 6) Continue(tid_);
    return false;
  }
  if (stop.signal() == SIGSTOP && stop.event() == 0) stop_again_ = true;
  const auto info = SignalInfo(tid_);
  if (stop.signal() == SIGSEGV && info && cache_->InGuard(AddressOf(*info))) {
    Drain();
    SetRax(registers_, ring_first_);
  }
  return true;
}

}  // namespace jprof::itrace
