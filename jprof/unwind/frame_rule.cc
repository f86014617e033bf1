#include "jprof/unwind/frame_rule.h"

#include "jprof/unwind/machine.h"

namespace jprof::unwind {
namespace {

using Step = Unwinder::Step;

// Loads from one stack. An invalid load yields 0 and is recorded.
class StackReader {
 public:
  StackReader(const StackBounds& stack, ReadLog* log) : stack_(stack), log_(log) {}
  bool ok() const { return ok_; }

  // Reads stack memory outside of variables, which sanitizers would report.
  __attribute__((no_sanitize_address, no_sanitize_thread)) uint64_t Load(uint64_t address) {
    if (address % 8 != 0 || !stack_.Holds(address, 8)) {
      ok_ = false;
      return 0;
    }
    const uint64_t value = *reinterpret_cast<const volatile uint64_t*>(address);
    if (log_ != nullptr) log_->Add(address, value);
    return value;
  }

 private:
  const StackBounds& stack_;
  ReadLog* const log_;
  bool ok_ = true;
};

uint64_t Cfa(const FrameRule& rule, const Registers& registers, StackReader& stack) {
  const auto offset = static_cast<uint64_t>(int64_t{rule.cfa_offset});
  switch (rule.cfa) {
    case FrameRule::From::kSp:
      return registers.sp + offset;
    case FrameRule::From::kFp:
      return registers.fp + offset;
    case FrameRule::From::kAtSp:
      return stack.Load(registers.sp + offset);
    case FrameRule::From::kAtFp:
      return stack.Load(registers.fp + offset);
    case FrameRule::From::kPlt:
      return registers.sp + 8 + ((registers.pc & 15) >= offset ? 8 : 0);
    default:
      return 0;
  }
}

// Returns a saved register; `unchanged` is its current value. An unknown one is 0, which no frame
// depends on.
uint64_t Saved(FrameRule::From from, int32_t offset, const Registers& registers, uint64_t cfa,
               uint64_t unchanged, StackReader& stack) {
  const auto distance = static_cast<uint64_t>(int64_t{offset});
  switch (from) {
    case FrameRule::From::kUnchanged:
      return unchanged;
    case FrameRule::From::kCfa:
      return stack.Load(cfa + distance);
    case FrameRule::From::kSp:
      return stack.Load(registers.sp + distance);
    case FrameRule::From::kFp:
      return stack.Load(registers.fp + distance);
    default:
      return 0;
  }
}

}  // namespace

Step FrameRule::Apply(Registers& registers, const StackBounds& bounds, ReadLog* log) const {
  if (ra == From::kUndefined) return Step::kOutermost;
  if (cfa == From::kUnknown || ra == From::kUnknown) return Step::kUnknown;
  StackReader stack(bounds, log);
  Registers caller;
  caller.sp = Cfa(*this, registers, stack);
  // A caller frame has a higher sp, except that a function which has not pushed anything yet, with
  // its return address in the link register, uses no stack.
  const bool upwards = caller.sp > registers.sp ||
                       (caller.sp == registers.sp && ra == From::kUnchanged && registers.link != 0);
  if (!stack.ok() || !upwards || caller.sp % 8 != 0 || !bounds.Holds(caller.sp, 0))
    return Step::kBad;
  caller.fp = Saved(fp, fp_offset, registers, caller.sp, registers.fp, stack);
  caller.pc = Saved(ra, ra_offset, registers, caller.sp, registers.link, stack) & kAddressBits;
  caller.interrupted = signal;
  if (signal && kHasLinkRegister)
    caller.link = stack.Load(registers.sp + static_cast<uint64_t>(fp_offset) + 8);
  if (!stack.ok() || (ra == From::kUnchanged && registers.link == 0)) return Step::kBad;
  if (caller.pc == 0) return Step::kOutermost;
  registers = caller;
  return Step::kStepped;
}

}  // namespace jprof::unwind
