// Provides for tests what Weave does to a method when nothing is inserted.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/result.h"

namespace jprof::weave {

// Reads and writes the code of every method. The result equals the input unless the code has
// attributes that are dropped (jprof/weave/code_tables.h) or padding that is not zero.
Result<std::vector<uint8_t>> RewriteUnchanged(std::span<const uint8_t> class_file);

}  // namespace jprof::weave
