// The memory of one traced thread that its translated code and the tracer share: spilled registers,
// counters, the table of indirect branches, and the ring of executed branches. It lies below 2 GiB,
// so that code anywhere can address it by a 32-bit absolute displacement.
#pragma once

#include <cstddef>
#include <cstdint>

namespace jprof::itrace {

inline constexpr uint32_t kTableEntries = 1u << 16;  // by the low 16 bits of the target
inline constexpr uint32_t kRingBytes = 1u << 20;

struct DataArea {
  uint64_t rax, rcx;          // spilled
  uint64_t ring;              // the address of the next entry
  uint64_t count;             // instructions, in code that records no branches
  uint64_t repeats;           // the same for iterations of rep instructions
  uint64_t repeat_before;     // rcx before a rep instruction
  uint64_t target;            // of an indirect branch
  uint64_t fs_base, gs_base;  // to compute addresses
  alignas(16) uint8_t xmm0[16], xmm1[16];
  alignas(4096) uint64_t table[kTableEntries];  // addresses of code that checks `target`
  alignas(4096) uint8_t entries[kRingBytes];
};
// One page behind it cannot be accessed, so that a full ring makes the thread fault there.
inline constexpr uint32_t kGuardBytes = 4096;

// An entry of the ring is the number of an exit (uint64_t). For exits that have one, a value
// (uint64_t) follows: the target of an indirect branch, the iterations of a rep instruction, or an
// address in memory.
// Everything is aligned, because programs may have alignment checks on.
inline constexpr uint32_t kShortEntry = 8, kLongEntry = 16;

static_assert(sizeof(DataArea) % 4096 == 0 && offsetof(DataArea, xmm0) % 16 == 0);

}  // namespace jprof::itrace
