// Translates x86-64 code into a copy that does the same elsewhere, and that counts or records what
// it executes. The unit is a straight line, which has one entry and an exit at each branch that is
// taken. It ends at the first branch that always leaves or when it is long enough. Pure.
//
// Beside the work of its original, a copy appends an exit's number to the ring, or adds to
// counters. Neither changes flags, the stack or a register that the program sees.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "itrace/memory_operands.h"
#include "itrace/x86_decoder.h"
#include "profile/log/branch_log.h"

namespace jprof::itrace {

struct CodeSpan {
  uint64_t begin = 0, end = 0;

  bool Contains(uint64_t address) const { return address - begin < end - begin; }
};

struct TranslatorOptions {
  bool records = true;                    // if false, only counts
  bool not_taken = false;                 // records also branches that are not taken
  const MemoryDecoder* memory = nullptr;  // if not null, references to memory are recorded
  std::optional<int32_t> thread_counter;  // offset from fs:0 of a counter in the process
  CodeSpan quiet;                         // code that is not counted there
  uint32_t most_instructions = 64;
  uint32_t most_bytes = 512, most_checked_bytes = 96;
};

// The place in the program of a thread that is at [offset, next point's offset) of the translation.
struct CodePoint {
  enum class State : uint8_t {
    kAt,         // before the instruction at `original`, with all registers as they should be
    kAtWithRcx,  // the same, but rcx is in its slot
    kInRepeat,   // kAt, perhaps after some iterations of the rep instruction there
    kBetween,    // no such place; execution continues until there is one
  };
  uint32_t offset = 0;
  State state = State::kBetween;
  uint64_t original = 0;
  uint32_t executed = 0;    // instructions since the entry or the last number in the ring
  uint32_t uncounted = 0;   // instructions since the entry or the last addition to counters
  uint32_t references = 0;  // those of the instruction that are in the ring already
};

// Describes how the thread leaves a translation, or what a number in the ring means.
struct CodeExit {
  enum class Type : uint8_t {
    kDirect,     // to `to`
    kIndirect,   // to the value in the ring
    kContinued,  // the line goes on at `to`, without a branch
    kRepeats,    // not an exit; the value is the iterations of a rep instruction
    kNotTaken,   // not an exit but a branch that was not taken
    // These are not exits, but references to memory by the instruction at `from`:
    kMemory,      // to the value
    kRangeBegin,  // by a rep instruction, which begins at the value
    kRangeEnd,    // and ends there
    kUnseen,      // to places that are not known
  };
  Type type = Type::kDirect;
  profile::BranchKind kind = profile::BranchKind::kJump;
  uint64_t from = 0, to = 0;
  uint64_t next = 0;      // where a call returns to
  uint32_t executed = 0;  // instructions that the number in the ring stands for
  uint32_t jump = 0;      // of kDirect and kContinued, offset of the displacement of the jump
  uint32_t bytes = 0;     // of a reference to memory
  profile::MemoryAccess access = profile::MemoryAccess::kLoad;
  uint8_t base = 0;  // of kRangeBegin, the register that has the address
};

// An int3 in a translation.
struct CodeTrap {
  enum class Type : uint8_t {
    kUnlinked,  // behind exit number `exit`: its target has no translation yet
    kStop,      // before an instruction at which the tracer asked to stop; `resume` continues
    kStep,      // the instruction has to be executed at its own address
    kChanged,   // the original differs from what was translated
  };
  uint32_t offset = 0;
  Type type = Type::kStep;
  uint32_t exit = 0;  // index in `exits`
  // The offset at which kStop continues. That of kChanged, with rcx other than 0, restores the
  // registers and traps.
  uint32_t resume = 0;
};

struct Translation {
  uint64_t start = 0, end = 0;  // of the original
  uint64_t at = 0;              // address of `bytes`
  uint32_t entry = 0;           // offset
  std::vector<uint8_t> bytes;
  std::vector<CodePoint> points;  // by offset
  std::vector<CodeExit> exits;
  std::vector<CodeTrap> traps;
  uint32_t first_exit = 0;  // the number of exits[0]
};

// The code that a translation is made from.
struct Source {
  uint64_t start = 0;
  std::span<const uint8_t> code;  // at `start`, as much as could be read
  bool checked = false;           // it may change, so it is compared at each entry
  // Returns whether the tracer asks for a stop before the instruction at an address.
  std::function<bool(uint64_t)> stops = {};
};

// Translates. `at` is a multiple of 16, within 2 GiB of the source; `first_exit` is the number of
// the first exit.
Translation Translate(const Source& source, const TranslatorOptions& options, uint64_t at,
                      uint32_t data, uint32_t first_exit);

// Makes the code that is jumped to through the table with the target in rcx and in the slot
// `target`. It goes to `entry` if the target is `original`, else to the code whose address is in
// its last 8 bytes.
std::vector<uint8_t> IndirectEntry(uint64_t original, uint64_t entry, uint64_t at, uint32_t data,
                                   uint64_t otherwise);

}  // namespace jprof::itrace
