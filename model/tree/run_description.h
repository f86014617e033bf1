// Describes the run for exports.
#pragma once

#include "model/tree/context_tree.h"

namespace jprof::model {

// Returns the metadata of meta.json, and notes on what the profile has lost. Call it when
// everything was read: damages are found while reading.
RunDescription DescribeRun(const Source& source);

// Returns the command line without the arguments that load the agent.
std::string CommandText(const std::vector<std::string>& command);

}  // namespace jprof::model
