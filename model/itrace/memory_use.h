// Sums up the references to memory of an instruction trace: by function, by what the memory is, and
// by how far apart two references to the same piece of memory are.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/result.h"
#include "cpo/model/shards.h"
#include "cpo/model/tlb_geometry.h"
#include "model/itrace/arc_recording.h"

namespace jprof::model {

inline constexpr int kLineShift = 6;  // of a cache line, 64 bytes

// Sums up the references of a function, to a group of memory, or all.
struct MemorySums {
  uint64_t references = 0;
  uint64_t loads = 0, stores = 0;        // a modification is both
  uint64_t lines = 0, pages = 0;         // different ones of 64 bytes, and of 4 KiB
  uint64_t first_misses = 0, walks = 0;  // of the simulated TLB, with pages of 4 KiB
};

struct FunctionMemory {
  uint32_t function = 0;  // in ArcCode::functions
  MemorySums sums;
};

// Describes memory that belongs together, such as all blocks that were allocated at one site.
struct MemoryGroup {
  std::string kind;  // that of the log (docs/OPTIMISE.md), or "unknown"
  std::string key;   // the same in every run of the program
  std::string name;  // for people: of a site the functions that called, innermost first
};

struct GroupMemory {
  uint32_t group = 0;  // in MemoryUse::groups
  MemorySums sums;
};

// The reuse distances of the references to pieces of one size: how many other pieces were referred
// to since the last reference to the same one. All threads together, in the order of the log.
struct ReuseOfUnits {
  int shift = kLineShift;  // pieces of 1 << shift bytes
  cpo::SampledReuse distances;
};

struct MemoryUse {
  MemorySums all;
  std::vector<FunctionMemory> functions;  // the most references first
  bool knows_sites = false;               // the trace knows where memory was allocated
  // Those with references, the most first. The rows together have all references; a reference
  // belongs to the group of its first byte.
  std::vector<GroupMemory> sites;
  std::vector<MemoryGroup> groups;
  std::vector<ReuseOfUnits> reuse;  // of lines, pages of 4 KiB and pages of 2 MiB
  cpo::TlbGeometry tlb;
  std::vector<std::string> losses;
  uint64_t doubtful = 0;  // references whose group is uncertain
  // Why references may be attributed to another group, or to none.
  std::vector<std::string> site_losses;
};

// Returns whether the trace has references to memory.
bool HasReferences(const ArcRecording& arcs);

// Fails if it has none, or if they cannot be read. With `tid`, only those of that thread.
Result<MemoryUse> LoadMemoryUse(ArcRecording& arcs, std::optional<uint32_t> tid = {});

}  // namespace jprof::model
