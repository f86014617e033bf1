#include <algorithm>

#include "common/monotonic.h"
#include "itrace/traced_thread.h"

namespace jprof::itrace {

using profile::MemoryReference;

namespace {

// So many references are kept back, because the instruction may turn out not to be executed.
constexpr size_t kKeptBack = MemoryOperands::kMost + 1;
// So many are reported at once. They stay in the processor's first cache.
constexpr size_t kReported = 256;

constexpr uint64_t kAddressSpace = uint64_t{1} << 47;  // of user code
constexpr uint64_t kUnknownBytes = 0;  // of a reference that stands for those that are not known

}  // namespace

// Assigns each member by itself: copies of the struct would wait for the stores of its members.
void TracedThread::AddReference(uint64_t code, uint64_t address, uint64_t bytes,
                                profile::MemoryAccess access, uint64_t time) {
  MemoryReference& reference = references_.emplace_back();
  reference.time_ns = time != 0 ? time : static_cast<uint64_t>(MonotonicNanos());
  reference.pid = totals_.pid;
  reference.tid = totals_.tid;
  reference.code = code;
  reference.address = address;
  reference.bytes = bytes;
  reference.access = access;
  reference.begins = begins_ && bytes != kUnknownBytes;
  if (reference.begins) begins_ = false;
  if (references_.size() >= kReported) ReportReferences(false);
}

// Adds what a string instruction accessed while its register went from the begin of the range to
// `end`.
void TracedThread::AddRange(const OpenRange& range, uint64_t end, uint64_t time) {
  if (end == range.begin) return;
  const bool forward = end > range.begin;
  // The program may have overwritten the ring.
  if ((forward ? end - range.begin : range.begin - end) >= kAddressSpace)
    return AddReference(range.code, 0, kUnknownBytes, range.access, time);
  AddReference(range.code, forward ? range.begin : end + range.bytes,
               forward ? end - range.begin : range.begin - end, range.access, time);
}

void TracedThread::AddReference(const CodeExit& exit, uint64_t value, uint64_t time) {
  switch (exit.type) {
    case CodeExit::Type::kMemory:
      return AddReference(exit.from, value, exit.bytes, exit.access, time);
    case CodeExit::Type::kUnseen:
      return AddReference(exit.from, 0, kUnknownBytes, exit.access, time);
    case CodeExit::Type::kRangeBegin:
      ranges_.push_back({exit.from, value, exit.bytes, exit.access, exit.base});
      return;
    case CodeExit::Type::kRangeEnd:
      if (ranges_.empty()) return;
      AddRange(ranges_.front(), value, time);
      ranges_.erase(ranges_.begin());
      return;
    default:
      return;
  }
}

// Takes back what the instruction at the point would have referred to, for it was not executed, or
// only some iterations of it.
void TracedThread::SettleReferences(const CodePoint& point) {
  if (!context_.options.memory) return;
  for (const OpenRange& range : ranges_) {
    if (point.state == CodePoint::State::kInRepeat)
      AddRange(range, RegisterOf(registers_, range.base), 0);
  }
  ranges_.clear();
  const size_t taken = std::min<size_t>(point.references, references_.size());
  for (size_t i = 0; i < taken; ++i) {
    begins_ = begins_ || references_.back().begins;
    references_.pop_back();
  }
}

void TracedThread::ReportReferences(bool all) {
  const size_t kept = all ? 0 : kKeptBack;
  if (references_.size() <= kept) return;
  const auto end = references_.end() - static_cast<std::ptrdiff_t>(kept);
  const auto unseen = [](const MemoryReference& one) { return one.bytes == kUnknownBytes; };
  const auto hidden = static_cast<size_t>(std::count_if(references_.begin(), end, unseen));
  const auto known = hidden == 0 ? end : std::remove_if(references_.begin(), end, unseen);
  totals_.unseen += hidden;
  totals_.references += static_cast<uint64_t>(known - references_.begin());
  context_.events.OnReferences({references_.begin(), known});
  references_.erase(references_.begin(), end);
}

// Finds what the instruction that is about to be stepped will read and write.
void TracedThread::BeginStepReferences(std::span<const uint8_t> code) {
  if (!context_.options.memory || step_.restarts ||
      step_.instruction.kind == StepInstruction::Kind::kSystemCall)
    return;
  const MemoryOperands found = memory_->Decode(code, step_.pc);
  step_.operands = found;
  for (size_t i = 0; i < found.count; ++i) step_.addresses[i] = found.all[i].AddressIn(registers_);
}

// Adds what the stepped instruction referred to. `executed` is false if it was not executed, or
// only some iterations of it.
void TracedThread::EndStepReferences(bool executed) {
  const MemoryOperands& operands = step_.operands;
  for (size_t i = 0; i < operands.count; ++i) {
    const MemoryOperand& operand = operands.all[i];
    const uint64_t address = step_.addresses[i];
    if (operand.repeated) {
      AddRange({step_.pc, address, operand.bytes, operand.access, operand.base},
               RegisterOf(registers_, operand.base), 0);
    } else if (executed) {
      AddReference(step_.pc, address, operand.bytes, operand.access, 0);
    }
  }
  if (operands.unseen && executed)
    AddReference(step_.pc, 0, kUnknownBytes, profile::MemoryAccess::kLoad, 0);
  step_.operands = {};
  ReportReferences(false);
}

}  // namespace jprof::itrace
