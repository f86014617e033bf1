// Writes the machine code of patched sleds, on x86-64. A sled calls, or jumps to, a stub near its
// module, which jumps to sled_code_x86_64.S.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/result.h"
#include "jprof/hookit/sled_table.h"

namespace jprof::hookit {

inline constexpr size_t kSledBytes = 11;
inline constexpr size_t kStubBytes = 16;
inline constexpr size_t kPage = 4096;

// Writes a jump to `target` that reaches every address.
void WriteStub(uint8_t* at, void (*target)());

struct Stubs {
  const uint8_t* entry = nullptr;
  const uint8_t* exit = nullptr;
  const uint8_t* tail = nullptr;
};

// Returns the stubs for a module. A page that was made for another module serves every module
// within its reach. Fails if no page can be made near the module.
Result<Stubs> StubsFor(const SledModule& module);

// Writes push $number; then a call or a jump, and a byte that has no effect.
void PatchSled(uint8_t* sled, uint32_t number, const uint8_t* target, bool call);

// Returns whether the bytes are those of a sled that is not patched.
bool IsSled(const uint8_t* at, uint8_t kind);

// Returns whether a jump that is always taken follows a tail sled. Before clang 19 the sled may be
// between a comparison and a conditional jump, where nothing indicates whether the function ends.
bool LeavesFunction(const uint8_t* code);

}  // namespace jprof::hookit
