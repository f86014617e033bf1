// A profile in as many pprof files as a server's limits require.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reports/export/context_tree.h"

namespace jprof::reports {

struct PprofLimits {
  uint64_t bytes = 0;    // of one file before compression
  uint64_t samples = 0;  // in one file
};

// Returns the contexts that have values, in parts that are within the limits, about: a thread is
// whole in one part, unless it is too large for one.
std::vector<std::vector<uint32_t>> PprofParts(const ContextTree& stacks, const PprofLimits& limits);

// Returns the compressed files; together they have what WritePprof writes. Error: that of
// WriteStacks.
Result<std::vector<std::string>> PprofFiles(const ContextTree& tree, const PprofLimits& limits);

}  // namespace jprof::reports
