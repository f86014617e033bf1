// Runs the instructions of one frame program (DW_CFA_*) over a FrameState.
#pragma once

#include <cstdint>
#include <vector>

#include "jprof/unwind/call_frames.h"
#include "jprof/unwind/frame_bytes.h"
#include "jprof/unwind/machine.h"

namespace jprof::unwind {

class FrameProgram {
 public:
  // Requires that `cie` outlives this object. `start` is the address of the function's
  // first instruction.
  FrameProgram(FrameBytes instructions, const Cie& cie, const Machine& machine, uint64_t start);

  // Runs up to the next advance of the address. Returns false if the program has ended; the state
  // then applies up to the end of the function.
  bool Run();
  // Returns the address that the program has reached. RuleNow applies from the previous
  // address up to this one.
  uint64_t address() const { return address_; }
  const FrameState& state() const { return state_; }
  // Returns false after an unknown or invalid instruction, from which on nothing is known.
  bool ok() const { return ok_ && in_.ok(); }

 private:
  bool Step(uint8_t op);  // false if the address moved
  bool Extended(uint8_t op);
  bool Advance(uint64_t units);
  void DefineCfa(uint64_t reg, uint64_t offset);
  void CfaExpression(FrameBytes expression);
  void Save(uint64_t reg, FrameRule::From from, uint64_t offset);
  void SaveByExpression(uint64_t reg, FrameBytes expression);
  void Restore(uint64_t reg);

  FrameBytes in_;
  const Cie& cie_;
  const Machine& machine_;
  uint64_t address_;
  FrameState state_;
  std::vector<FrameState> remembered_;
  bool ok_ = true;
};

// Converts a state to a row; `signal` is from its CIE.
FrameRule RuleOf(const FrameState& state, const Machine& machine, bool signal);

}  // namespace jprof::unwind
