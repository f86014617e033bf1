// Makes the interpreter of a running VM allocate all objects in the VM's own code, which reports
// them. From JDK 24 on the interpreter's fast path of the bytecode `new` reports nothing, unless
// the flag of the allocation probe was set when the VM started.
//
// The fast path begins with a test of a bit of the class, and a jump to the VM's code if it is set.
// The condition of this jump is changed to one that is always true: a change of one byte, which
// threads may be executing meanwhile.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "common/result.h"
#include "jprof/hotspot/vm/vm_structs.h"

namespace jprof::hotspot {

// Returns the offset, in the code of the bytecode `new`, of the byte that has the condition of this
// jump. Returns nothing unless there is exactly one. Always returns nothing on AArch64.
std::optional<size_t> ConditionOfNew(std::string_view code);

class InterpretedNew {
 public:
  // Fails if the jump is not found.
  static Result<InterpretedNew> Find(const VmStructs& structs);

  void LeaveFastPath() const;
  void Restore() const;

 private:
  explicit InterpretedNew(uint64_t condition) : condition_(condition) {}
  void Write(uint8_t condition) const;

  uint64_t condition_;  // address of the byte
};

}  // namespace jprof::hotspot
