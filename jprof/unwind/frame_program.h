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
  // `cie` outlives it. `start`: the address of the function's first instruction.
  FrameProgram(FrameBytes instructions, const Cie& cie, const Machine& machine, uint64_t start);

  // Runs up to the next advance of the address. False: the program is over, the state holds to the
  // function's end.
  bool Run();
  // The address that the program has reached. What RuleNow says holds up to here from the one
  // before.
  uint64_t address() const { return address_; }
  const FrameState& state() const { return state_; }
  // False: an instruction that is not known, or nonsense; nothing can be said from here on.
  bool ok() const { return ok_ && in_.ok(); }

 private:
  bool Step(uint8_t op);  // false: the address moved
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

// What a state says, as a row; `signal` as of its CIE.
FrameRule RuleOf(const FrameState& state, const Machine& machine, bool signal);

}  // namespace jprof::unwind
