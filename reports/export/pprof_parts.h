// Divides a profile into as many pprof files as a server's limits require.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/tree/context_tree.h"

namespace jprof::reports {

struct PprofLimits {
  uint64_t bytes = 0;    // of one file before compression
  uint64_t samples = 0;  // in one file
};

// Returns the contexts that have values, in parts that are approximately within the limits. A
// thread is divided only if it is too large for one part.
std::vector<std::vector<model::NodeIndex>> PprofParts(const model::ContextTree& stacks,
                                                      const PprofLimits& limits);

// Returns the compressed files, which together contain what WritePprof writes. Fails
// if WriteStacks does.
Result<std::vector<std::string>> PprofFiles(const model::ContextTree& tree,
                                            const PprofLimits& limits);

}  // namespace jprof::reports
