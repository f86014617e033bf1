#include "itrace/traced_thread.h"

#include <algorithm>

#include "common/monotonic.h"

namespace jprof::itrace {

using profile::BranchKind;

namespace {

// This is the largest number of instructions that one entry of the ring represents.
constexpr uint64_t kMostPerEntry = 64;
constexpr uint64_t kMaskedTraps = uint64_t{1} << (SIGTRAP - 1) | uint64_t{1} << (SIGSEGV - 1);
// A frame that ended is recognised by a stack pointer not further above than this.
constexpr uint64_t kSameStack = uint64_t{1} << 20;

}  // namespace

TracedThread::TracedThread(TraceContext& context, pid_t tid) : context_(context), tid_(tid) {
  totals_.pid = static_cast<uint32_t>(context.tracee.pid());
  totals_.tid = static_cast<uint32_t>(tid);
}

void TracedThread::Begin(std::optional<Frame> frame) {
  GetRegisters(tid_, registers_);
  if (registers_.RestartsSystemCall()) registers_.RestartSystemCall();
  frame_ = frame;
  active_ = true;
  begins_ = true;
  if (context_.options.memory && !memory_) memory_ = std::make_unique<MemoryDecoder>();
  HideMask();
  if (context_.options.engine == Engine::kBlock && !cache_) {
    const TranslatorOptions options = {.records = context_.options.records || context_.limit != 0,
                                       .not_taken = context_.options.not_taken,
                                       .memory = memory_.get(),
                                       .thread_counter = context_.thread_counter,
                                       .quiet = context_.quiet};
    cache_ = std::make_unique<CodeCache>(context_.tracee, tid_, options);
    if (auto mapped = cache_->Map(registers_.pc()); !mapped) {
      context_.notes.push_back(fmt::format("thread {} is traced instruction by instruction: {}",
                                           tid_, mapped.error().message));
      cache_.reset();
    }
  }
  if (cache_) {
    for (const uint64_t place : context_.end_places) cache_->AddStop(place);
    if (frame_) cache_->AddStop(frame_->return_address);
    cache_->data().ring = ring_first_ = cache_->ring_start();
  }
  Pin();
  began_ns_ = drained_ns_ = static_cast<uint64_t>(MonotonicNanos());
  Record(BranchKind::kBegin, 0, registers_.pc());
  Go();
}

// Continues from an original address.
void TracedThread::Go() {
  if (AtEnd()) return ParkHere();
  if (stop_again_) {
    stop_again_ = false;
    siginfo_t info = {};
    info.si_signo = SIGSTOP;
    deliver_ = info;
  }
  if (deliver_ || !UsesCache() || !EnterCache()) BeginStep();
}

// Returns whether the trace ends before the next instruction. It also ends when the function's
// frame does not exist any more though it did not return: an exception, longjmp.
bool TracedThread::AtEnd() {
  if (context_.limit != 0 && totals_.instructions + pending_ >= context_.limit) return true;
  const uint64_t pc = registers_.pc();
  if (frame_) {
    const uint64_t sp = registers_.sp();
    if (sp <= frame_->sp || sp > frame_->sp + kSameStack) return false;
    if (pc != frame_->return_address) {
      context_.notes.push_back(
          fmt::format("thread {}: the function was left without a return; "
                      "the trace ended when that was seen, at {:#x}",
                      tid_, pc));
    }
    return true;
  }
  return std::ranges::count(context_.end_places, pc) != 0;
}

// Returns false if the next instruction has to be stepped.
bool TracedThread::EnterCache() {
  const uint64_t left =
      context_.limit == 0 ? ~uint64_t{0} : context_.limit - totals_.instructions - pending_;
  if (left <= 4 * kMostPerEntry) return false;
  const uint64_t original = registers_.pc();
  const uint64_t entry = Translated(original, false);
  if (entry == 0) return false;
  SetRingWindow();
  drained_ns_ = static_cast<uint64_t>(MonotonicNanos());  // after a system call that waited
  registers_.set_pc(entry);
  ResumeInCache();
  return true;
}

// Leaves as much of the ring as the limit of instructions allows. The ring is empty.
void TracedThread::SetRingWindow() {
  DataArea& data = cache_->data();
  ring_first_ = cache_->ring_start();
  if (context_.limit != 0) {
    const uint64_t left = context_.limit - totals_.instructions - pending_;
    const uint64_t entries = left / kMostPerEntry - 2;
    ring_first_ = std::max(
        ring_first_, cache_->ring_end() - std::min<uint64_t>(entries * kShortEntry, kRingBytes));
  }
  data.ring = ring_first_;
}

uint64_t TracedThread::Translated(uint64_t original, bool indirect) {
  const auto enter = [&] {
    return indirect ? cache_->EnterIndirect(original) : cache_->Enter(original);
  };
  uint64_t entry = enter();
  if (entry != 0 || !cache_->worn()) return entry;
  Drain();
  cache_->Flush();
  SetRingWindow();
  return enter();
}

void TracedThread::ResumeInCache() {
#if defined(__x86_64__)
  registers_.raw.orig_rax = ~uint64_t{0};
  cache_->data().fs_base = registers_.raw.fs_base;
  cache_->data().gs_base = registers_.raw.gs_base;
#endif
  mode_ = Mode::kInCache;
  SetRegisters(tid_, registers_);
  Continue(tid_);
}

void TracedThread::ParkHere() {
  SetRegisters(tid_, registers_);
  mode_ = Mode::kParked;
}

void TracedThread::Park() {
  if (mode_ == Mode::kParked || mode_ == Mode::kEnded) return;
  GetRegisters(tid_, registers_);
  if (mode_ == Mode::kInCache && !LeaveCache()) return;
  const bool system_call = step_.instruction.kind == StepInstruction::Kind::kSystemCall;
  if (mode_ == Mode::kStepping && system_call && registers_.pc() != step_.pc) {
    CountOne();
    Record(BranchKind::kSystemCall, step_.pc, registers_.pc());
  }
  ParkHere();
}

void TracedThread::Handle(const Stop& stop) {
  if (mode_ == Mode::kInCache) return OnCacheStop(stop);
  if (mode_ == Mode::kStepping) return OnStepStop(stop);
}

void TracedThread::Executed() {
  if (cache_) cache_->Forget();
  cache_.reset();
  const uint64_t from = step_.pc;
  hidden_mask_ = 0;
  frame_.reset();
  GetRegisters(tid_, registers_);
  CountOne();
  ++totals_.system_calls;
  Record(BranchKind::kSystemCall, from, registers_.pc());
  active_ = false;
  totals_.traced_ns += static_cast<uint64_t>(MonotonicNanos()) - began_ns_;
  Begin(std::nullopt);
}

void TracedThread::Exiting() {
  if (!active_) return;
  GetRegisters(tid_, registers_);
  uint64_t at = registers_.pc();
  if (mode_ == Mode::kInCache && cache_) {
    Drain();
    const Translation* translation = cache_->Find(at);
    const CodePoint* point =
        translation == nullptr ? nullptr : CodeCache::PointAt(*translation, at);
    if (point != nullptr && point->state != CodePoint::State::kBetween) {
      SettleReferences(*point);
      AddPartial(*point);
      at = point->original;
    }
  }
  if (mode_ == Mode::kStepping && step_.instruction.kind == StepInstruction::Kind::kSystemCall &&
      registers_.pc() != step_.pc) {
    CountOne();
    ++totals_.system_calls;
  }
  registers_.set_pc(at);
  Ended();
}

void TracedThread::Ended() {
  if (active_) {
    Record(BranchKind::kEnd, registers_.pc(), 0);
    totals_.traced_ns += static_cast<uint64_t>(MonotonicNanos()) - began_ns_;
  }
  active_ = false;
  mode_ = Mode::kEnded;
  totals_ = totals();
  if (pinned_) sched_setaffinity(0, sizeof(own_processors_), &own_processors_);
  pinned_ = false;
  cache_.reset();
}

void TracedThread::End(bool unmap) {
  if (!active_) return;
  Record(BranchKind::kEnd, registers_.pc(), 0);
  totals_.traced_ns += static_cast<uint64_t>(MonotonicNanos()) - began_ns_;
  active_ = false;
  ShowMask();
  if (unmap && cache_) {
    totals_ = totals();
    cache_->Unmap();
    cache_.reset();
  }
  Unpin();
}

// Unblocks the traps of tracing, because the kernel resets the handler of a trap that is blocked.
// The program sees its own mask wherever it can look.
void TracedThread::HideMask() {
  const auto mask = SignalMask(tid_);
  if (!mask || (*mask & kMaskedTraps) == 0) return;
  hidden_mask_ |= *mask & kMaskedTraps;
  SetSignalMask(tid_, *mask & ~kMaskedTraps);
}
void TracedThread::ShowMask() {
  if (hidden_mask_ == 0) return;
  if (const auto mask = SignalMask(tid_)) SetSignalMask(tid_, *mask | hidden_mask_);
  hidden_mask_ = 0;
}

// Pins both threads to one processor, because a stop and the continuation after it then take a
// fifth of the time.
void TracedThread::Pin() {
  if (!context_.options.pin || pinned_) return;
  cpu_set_t one;
  CPU_ZERO(&one);
  if (sched_getaffinity(tid_, sizeof(processors_), &processors_) != 0) return;
  if (sched_getaffinity(0, sizeof(own_processors_), &own_processors_) != 0) return;
  int processor = sched_getcpu();
  if (processor < 0 || !CPU_ISSET(processor, &processors_)) {
    for (processor = 0; processor < CPU_SETSIZE - 1 && !CPU_ISSET(processor, &processors_);)
      ++processor;
  }
  CPU_SET(processor, &one);
  pinned_ = sched_setaffinity(tid_, sizeof(one), &one) == 0;
  if (pinned_) sched_setaffinity(0, sizeof(one), &one);
}
void TracedThread::Unpin() {
  if (!pinned_) return;
  pinned_ = false;
  sched_setaffinity(tid_, sizeof(processors_), &processors_);
  sched_setaffinity(0, sizeof(own_processors_), &own_processors_);
}

}  // namespace jprof::itrace
