// Describes where the caller's registers are, for one range of code: a row of an unwind table.
//
// The CFA (canonical frame address) is the caller's stack pointer. The return address and the
// caller's frame pointer are at fixed offsets from it or from a register.
#pragma once

#include <cstdint>

#include "jprof/unwind/registers.h"
#include "jprof/unwind/unwinder.h"

namespace jprof::unwind {

struct FrameRule {
  enum class From : uint8_t {
    kUnknown,    // not computable, or no rule
    kUndefined,  // the return address of a thread's first frame: there is no caller
    kUnchanged,  // still in its register (the return address: the link register)
    kCfa,        // in memory at the CFA + offset
    kSp,         // in memory at sp + offset; of the CFA: sp + offset itself
    kFp,         // the same with fp
    kAtSp,       // CFA only: in memory at sp + offset (signal frames)
    kAtFp,       // CFA only: in memory at fp + offset (functions that align their stack)
    kPlt,  // CFA only: sp + 8, and 8 more from byte `offset` of a 16-byte entry on (x86-64 .plt)
  };

  From cfa = From::kUnknown, fp = From::kUnknown, ra = From::kUnknown;
  bool signal = false;  // the caller was interrupted here rather than calling
  int32_t cfa_offset = 0, fp_offset = 0, ra_offset = 0;

  bool operator==(const FrameRule&) const = default;

  // Moves the registers to the caller, reading only the stack. They are unchanged unless the
  // result is kStepped.
  Unwinder::Step Apply(Registers& registers, const StackBounds& stack,
                       ReadLog* log = nullptr) const;
};
static_assert(sizeof(FrameRule) == 16);

}  // namespace jprof::unwind
