// Reads the source lines of a method from the VM's compressed table, which follows the bytecodes.
#pragma once

#include <cstdint>

#include "jprof/hotspot/vm/method_layout.h"
#include "jprof/hotspot/vm/nmethod.h"
#include "jprof/hotspot/vm/struct_lookup.h"

namespace jprof::hotspot {

// Returns the line of the last entry at or before a bytecode, or 0 if there is none or the table,
// which ends before `end`, is damaged. Entries may be in any order.
uint32_t LineIn(const uint8_t* table, const uint8_t* end, Coding coding, uint32_t bci);

class LineTables {
 public:
  LineTables(Fields& field, const MethodLayout& method);

  // Returns the source line of a bytecode of the method with this ConstMethod, or 0 if the class
  // file or this VM does not say.
  uint32_t LineOf(uint64_t const_method, uint32_t bci) const;

 private:
  int64_t flags_, words_, code_size_, header_bytes_;
  Coding coding_;
};

}  // namespace jprof::hotspot
