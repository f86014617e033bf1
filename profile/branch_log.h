// The file `branches` of a recording of `jprof itrace`: what the traced threads executed, as a
// sequence of branches. The process that traces writes it. See docs/PROFILE_FORMAT.md.
//
// Beside it in the directory: `samples` (profile/sample_log.h, without samples: the mappings,
// names, forks and exits of the traced process), `recording.json` and, for a JVM, `jitlog`, so that
// reports/recording.h resolves addresses at a time.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "profile/reading_memory.h"

namespace jprof::profile {

inline constexpr char kBranchesFile[] = "branches";
inline constexpr char kBranchMagic[8] = {'j', 'p', 'r', 'o', 'f', 'b', 'r', 'a'};
inline constexpr uint32_t kBranchVersion = 1;

// Why the sequence of instructions left `from` for `to`.
enum class BranchKind : uint8_t {
  kBegin,       // tracing of the thread begins at `to`; `from` is 0
  kJump,        // jmp, direct or indirect
  kTaken,       // a conditional branch that was taken
  kNotTaken,    // one that was not; written only if requested
  kCall,        // call
  kReturn,      // ret
  kSystemCall,  // a system call; `to` is the instruction after it
  kSignal,      // a signal interrupted the thread at `from`; `to` is its handler
  kSignalReturn,  // the handler's end; `to` is where the thread continues
  kEnd,           // tracing of the thread ends before the instruction `from`; `to` is 0
};

// One record. `instructions`: executed since the thread's previous record, the branch itself
// included. Conventions: an instruction with a rep prefix counts once, however often it repeats,
// and a system call counts once; the kernel's instructions are not counted. `repeats`: the
// iterations of all rep instructions among `instructions` (0: there was none).
struct Branch {
  uint64_t time_ns = 0;  // CLOCK_MONOTONIC, of the branch
  uint32_t pid = 0, tid = 0;
  BranchKind kind = BranchKind::kJump;
  uint64_t from = 0, to = 0;
  uint64_t instructions = 0;
  uint64_t repeats = 0;
};

}  // namespace jprof::profile
