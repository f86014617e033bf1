// Determines what executing one instruction by itself may do, for both architectures. Pure.
#pragma once

#include <cstdint>
#include <span>

#include "profile/log/branch_log.h"

namespace jprof::itrace {

struct StepInstruction {
  enum class Kind : uint8_t { kPlain, kJump, kConditional, kCall, kReturn, kSystemCall };
  Kind kind = Kind::kPlain;
  bool repeats = false;       // a rep instruction: a step executes one iteration
  bool pushes_flags = false;  // the trap flag of stepping has to be removed from the stack
  uint64_t next = 0;          // the instruction behind it; 0 if unknown
};

// Decodes an instruction. Requires at least 15 bytes, unless fewer can be read.
StepInstruction DecodeStep(std::span<const uint8_t> code, uint64_t address);

// Returns which branch the instruction was if execution continues at `to`, or kEnd if it was none.
profile::BranchKind BranchOf(const StepInstruction& instruction, uint64_t to);

}  // namespace jprof::itrace
