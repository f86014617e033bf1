// Parses the debug information of a compiled method: the Java methods, inlined into each other, at
// an address. If bytes are damaged, the functions return false and never read outside their bounds;
// the memory may be unmapped.
#pragma once

#include <cstddef>
#include <cstdint>

#include "jprof/hotspot/vm/memory_reader.h"
#include "jprof/hotspot/vm/struct_lookup.h"

namespace jprof::hotspot {

// The variable-length encoding of small numbers called UNSIGNED5: 1 to 5 bytes, base 64.
enum class Coding {
  kAllBytes,  // JDK 17
  kNoZeros,   // from 20 on no byte is 0
};
// Returns the encoding that this VM uses.
Coding CodingOf(Fields& field, const MemoryReader& memory);

class CompressedReader {
 public:
  CompressedReader(const uint8_t* at, const uint8_t* end, Coding coding)
      : at_(at), end_(end), coding_(coding) {}
  bool Read(uint32_t* value);
  const uint8_t* at() const { return at_; }  // what follows the numbers that were read

 private:
  const uint8_t *at_, *end_;
  Coding coding_;
};

// An address of compiled code with debug information. It has the same layout as in the
// VM (pcDesc.hpp).
struct PcDesc {
  int32_t pc_offset;     // offset in the code
  int32_t scope_offset;  // offset in the scopes, or 0 if there are none
  int32_t object_offset;
  int32_t flags;
};
static_assert(sizeof(PcDesc) == 16);

// Returns the scope of the first entry at or after an offset of the code, among `count` entries at
// `pcs`, or 0 if there is none. The entries are sorted, with a sentinel at both ends.
uint32_t FindScope(MemoryReader& memory, uint64_t pcs, uint64_t count, int64_t pc_offset);

// One method in a chain of inlined ones.
struct Scope {
  uint32_t sender = 0;  // offset of the scope it is inlined into, or 0
  uint32_t method = 0;  // index of the Method* in the nmethod's metadata, from 1 on
  int32_t bci = -1;     // -1 before the first bytecode
};
bool ReadScope(MemoryReader& memory, uint64_t scopes, uint64_t size, uint32_t offset, Coding coding,
               Scope* scope);

}  // namespace jprof::hotspot
