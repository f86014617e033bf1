// The profiles to merge: opened, and checked to fit together.
#pragma once

#include <string>
#include <vector>

#include "common/result.h"
#include "profile/reader.h"

namespace jprof::profile {

// At least one. Error (kWrongUse where other arguments would help): a directory is no profile or is
// named twice, the output is an input or around or inside one, or two profiles cannot be added.
Result<std::vector<Reader>> OpenMergeInputs(const std::vector<std::string>& directories,
                                            const std::string& output);

}  // namespace jprof::profile
