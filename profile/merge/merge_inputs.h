// Opens the profiles to merge and checks that they fit together.
#pragma once

#include <string>
#include <vector>

#include "common/result.h"
#include "profile/merge/merged_meta.h"
#include "profile/read/reader.h"

namespace jprof::profile {

// Requires at least one directory. Fails (with kWrongUse where other arguments would help) if a
// directory is no profile or is named twice, if the output is an input or around or inside one, or
// if two profiles cannot be added.
Result<std::vector<Reader>> OpenMergeInputs(const std::vector<std::string>& directories,
                                            const std::string& output);

// Fails (with kWrongUse) if profiles of this mode cannot be merged.
Result<void> CheckMode(const Reader& reader);

// Returns what merged.json states of the profile, whose tree has been read.
MergedInput DescribeInput(Reader& reader, const CallTree& tree);

}  // namespace jprof::profile
