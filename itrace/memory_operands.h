// Finds where an x86-64 instruction reads and writes memory, also where it does so without an
// operand, such as push, call and the string instructions. Capstone decodes the operands. On other
// architectures nothing is found.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "itrace/ptrace.h"
#include "profile/log/memory_log.h"

namespace jprof::itrace {

// One place in memory that an instruction accesses: base + index * scale + displacement, relative
// to a segment.
struct MemoryOperand {
  static constexpr uint8_t kNone = 0xff;
  enum class Segment : uint8_t { kFlat, kFs, kGs };

  uint8_t base = kNone, index = kNone;  // numbers of registers: rax 0, rcx 1 ... r15 15
  uint8_t scale = 1;
  Segment segment = Segment::kFlat;
  bool address32 = false;  // only the low 32 bits of the sum count
  bool repeated = false;   // of a string instruction with a rep prefix; `base` runs through it
  profile::MemoryAccess access = profile::MemoryAccess::kLoad;
  uint32_t bytes = 0;         // of one access
  uint64_t displacement = 0;  // the whole address if there is neither base nor index

  // Returns the address, given the registers before the instruction.
  uint64_t AddressIn(const Registers& registers) const;
};

struct MemoryOperands {
  static constexpr size_t kMost = 3;
  std::array<MemoryOperand, kMost> all;
  uint8_t count = 0;
  bool unseen = false;  // it accesses memory in places that are not described: a gather or scatter

  std::span<const MemoryOperand> found() const { return std::span(all).first(count); }
};

// Returns the value of a register by its number.
uint64_t RegisterOf(const Registers& registers, uint8_t number);

class MemoryDecoder {
 public:
  MemoryDecoder();
  ~MemoryDecoder();
  MemoryDecoder(const MemoryDecoder&) = delete;

  // Returns what the instruction at `address` accesses. Requires that the instruction is complete.
  // An instruction that Capstone does not know counts as one that accesses memory unseen.
  MemoryOperands Decode(std::span<const uint8_t> code, uint64_t address) const;

 private:
  size_t handle_ = 0;  // csh
};

}  // namespace jprof::itrace
