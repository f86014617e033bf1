// Lists the modules mapped by the dynamic linker, and the location of their exception frames
// in memory.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "jprof/unwind/call_frames.h"
#include "jprof/unwind/frame_bytes.h"

namespace jprof::unwind {

struct Module {
  std::string path;  // [vdso] for that of the kernel
  uint64_t bias = 0;
  CodeRange span;                  // all segments, at run time
  std::vector<CodeRange> code;     // the executable ones
  std::span<const uint8_t> index;  // .eh_frame_hdr
  FrameBytes eh_frame;             // from .eh_frame to the end of its segment, or empty
};

// Counts how often modules were loaded and unloaded. If the counts are equal, the modules are
// the same.
struct ModuleCounts {
  uint64_t added = 0, removed = 0;
  bool operator==(const ModuleCounts&) const = default;
};

// Calls `visit` with each module, which cannot be unmapped until `visit` returns, and sets
// `counts`. If they are unchanged, visits nothing and returns false.
bool ForEachModule(ModuleCounts& counts, const std::function<void(const Module&)>& visit);

}  // namespace jprof::unwind
