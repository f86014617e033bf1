#include <cstring>

#include "common/monotonic.h"
#include "itrace/traced_thread.h"

namespace jprof::itrace {

using profile::BranchKind;

namespace {

template <typename T>
T ReadAt(const uint8_t* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(value));
  return value;
}

bool HasValue(CodeExit::Type type) {
  switch (type) {
    case CodeExit::Type::kIndirect:
    case CodeExit::Type::kRepeats:
    case CodeExit::Type::kMemory:
    case CodeExit::Type::kRangeBegin:
    case CodeExit::Type::kRangeEnd:
      return true;
    default:
      return false;
  }
}

}  // namespace

// Reports what the thread executed in its translated code, and empties the ring.
void TracedThread::Drain() {
  if (!cache_) return;
  DataArea& data = cache_->data();
  const uint64_t first = ring_first_ - cache_->ring_start();
  const uint8_t* entry = data.entries + first;
  const uint8_t* const end =
      data.entries + std::min<uint64_t>(data.ring - cache_->ring_start(), kRingBytes);
  if (entry >= end) return;
  const auto now = static_cast<uint64_t>(MonotonicNanos());
  const double step =
      static_cast<double>(now - drained_ns_) / static_cast<double>((end - entry) / kShortEntry + 1);
  double time = static_cast<double>(drained_ns_ - began_ns_);
  while (entry + kShortEntry <= end) {
    const auto number = static_cast<uint32_t>(ReadAt<uint64_t>(entry));
    entry += kShortEntry;
    if (number >= cache_->exits()) break;  // the program overwrote it
    const CodeExit& exit = cache_->exit(number);
    uint64_t value = 0;
    if (HasValue(exit.type)) {
      value = ReadAt<uint64_t>(entry);
      entry += kLongEntry - kShortEntry;
      time += step;
    }
    time += step;
    pending_ += exit.executed;
    const uint64_t when = began_ns_ + static_cast<uint64_t>(time);
    switch (exit.type) {
      case CodeExit::Type::kDirect:
      case CodeExit::Type::kNotTaken:
        Record(exit.kind, exit.from, exit.to, when);
        break;
      case CodeExit::Type::kIndirect:
        Record(exit.kind, exit.from, value, when);
        break;
      case CodeExit::Type::kRepeats:
        pending_repeats_ += value;
        break;
      case CodeExit::Type::kContinued:
        break;
      case CodeExit::Type::kMemory:
      case CodeExit::Type::kRangeBegin:
      case CodeExit::Type::kRangeEnd:
      case CodeExit::Type::kUnseen:
        AddReference(exit, value, when);
        break;
    }
  }
  ReportReferences(false);
  // While this was reported the thread did not run.
  drained_ns_ = static_cast<uint64_t>(MonotonicNanos());
  data.ring = ring_first_;
}

void TracedThread::AddPartial(const CodePoint& point) {
  DataArea& data = cache_->data();
  if (context_.options.records || context_.limit != 0) {
    pending_ += point.executed;
  } else {
    data.count += point.uncounted;
  }
  if (point.state == CodePoint::State::kInRepeat)
    pending_repeats_ += data.repeat_before - registers_.repeat();
  AddToThreadCounter(point.uncounted, point.original);
}

void TracedThread::CountOne() {
  ++pending_;
  if (UsesCache() && context_.limit == 0) ++totals_.stepped;
  AddToThreadCounter(1, registers_.pc());
}

void TracedThread::AddToThreadCounter(uint64_t instructions, uint64_t address) {
#if defined(__x86_64__)
  if (!context_.thread_counter || instructions == 0 || context_.quiet.Contains(address)) return;
  const uint64_t place =
      registers_.raw.fs_base + static_cast<uint64_t>(int64_t{*context_.thread_counter});
  uint64_t value = 0;
  const std::span<uint8_t> bytes(reinterpret_cast<uint8_t*>(&value), sizeof(value));
  if (context_.tracee.Read(place, bytes) != sizeof(value)) return;
  value += instructions;
  context_.tracee.Write(place, bytes);
#else
  (void)instructions, (void)address;
#endif
}

void TracedThread::Record(BranchKind kind, uint64_t from, uint64_t to, uint64_t time) {
  if (context_.options.records) {
    context_.events.OnBranch({.time_ns = time != 0 ? time : static_cast<uint64_t>(MonotonicNanos()),
                              .pid = totals_.pid,
                              .tid = totals_.tid,
                              .kind = kind,
                              .from = from,
                              .to = to,
                              .instructions = pending_,
                              .repeats = pending_repeats_});
    ++totals_.records;
  }
  if (kind == BranchKind::kEnd) ReportReferences(true);
  totals_.instructions += pending_;
  totals_.repeats += pending_repeats_;
  pending_ = pending_repeats_ = 0;
}

ThreadTotals TracedThread::totals() const {
  ThreadTotals all = totals_;
  all.instructions += pending_;
  all.repeats += pending_repeats_;
  if (cache_ && cache_->mapped()) {
    all.instructions += cache_->data().count;
    all.repeats += cache_->data().repeats;
  }
  if (active_) all.traced_ns += static_cast<uint64_t>(MonotonicNanos()) - began_ns_;
  return all;
}

}  // namespace jprof::itrace
