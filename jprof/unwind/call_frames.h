// Parses .eh_frame: the functions, and for each the program that computes the frame of its caller
// (DWARF 5, 6.4). The bytes are untrusted.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/page_allocator.h"
#include "jprof/unwind/frame_bytes.h"
#include "jprof/unwind/frame_rule.h"
#include "jprof/unwind/machine.h"

namespace jprof::unwind {

// A range of addresses, [low, high).
struct CodeRange {
  uint64_t low = 0, high = 0;
  bool operator==(const CodeRange&) const = default;
};

// The state that a frame program modifies.
struct FrameState {
  FrameRule rule;             // without its CFA
  uint64_t cfa_register = 0;  // used in CFA = register + offset
  uint64_t cfa_offset = 0;
  FrameRule cfa_expression;  // any other CFA, if has_expression
  bool has_expression = false;
  bool moves_sp = false;  // the caller's sp is not the CFA
};

// The common information entry, which many functions share.
struct Cie {
  uint64_t code_unit = 1, data_unit = 1;
  uint8_t pointer_encoding = kAbsolute;
  bool has_augmentation_data = false;
  bool signal = false;
  FrameState initial;
};

class CallFrames {
 public:
  struct Function {
    CodeRange code;
    const Cie* cie;
    FrameBytes program;
  };

  // Parses the functions. Those outside `code` are dropped: the linker removes code, but not
  // always its description.
  CallFrames(FrameBytes eh_frame, CodeRange code, const Machine& machine);
  CallFrames(const CallFrames&) = delete;

  // Returns the functions, which are sorted and do not overlap.
  const PageVector<Function>& functions() const { return functions_; }
  // Pairs of start address and rule, ascending from the function's start. If an address occurs
  // twice, the last pair applies.
  using Rows = std::vector<std::pair<uint64_t, FrameRule>>;
  void RowsOf(const Function& function, Rows& rows) const;

 private:
  void AddFunction(FrameBytes entry, uint64_t cie_address);
  const Cie* CieAt(uint64_t address);

  const FrameBytes section_;
  const CodeRange code_;
  const Machine& machine_;
  // By address. One that cannot be read has the pointer_encoding kOmitted.
  std::unordered_map<uint64_t, Cie> cies_;
  PageVector<Function> functions_;
};

}  // namespace jprof::unwind
