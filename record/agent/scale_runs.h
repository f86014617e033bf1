// Runs a program with inputs of several sizes for `jprof scale`: each size is a sequence of runs of
// its own, sampled and counted, whose result is a combined profile.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "profile/read/run_spreads.h"
#include "profile/read/scale_meta.h"
#include "record/agent/run_sequence.h"

namespace jprof::record {

// What stands for the size in the arguments of the command.
inline constexpr std::string_view kSizePlace = "{n}";

// Returns the command with the size in place of each {n}. Fails with kWrongUse if it has none.
Result<std::vector<std::string>> WithSize(const std::vector<std::string>& command, uint64_t size);

struct ScalePlan {
  std::filesystem::path out;  // the directory of the result, which exists
  std::vector<std::string> command;
  std::vector<uint64_t> sizes;
  std::vector<RunSequence> sequences;  // by size

  // Returns what the user should know of the runs, each note once.
  std::vector<std::string> Notes() const;
};

// Checks all runs of all sizes, which increase, before anything is started. Nothing is left behind
// if it fails. `request` has the options of the runs of one size.
Result<ScalePlan> PlanScale(const SequenceRequest& request, const std::vector<uint64_t>& sizes,
                            const std::vector<std::string>& command);

struct ScaleEnd {
  int status = 0;       // the first exit status that is not 0
  size_t recorded = 0;  // sizes in the result, the smallest ones
};

// Runs the program with each size and prints a line about each run. Ends after a size that was not
// recorded completely, or whose runs ended with another exit status than those of the first size;
// this one is not part of the result. Writes the result of the others. Fails if nothing was
// recorded because the program could not be started, or if a file cannot be written.
Result<ScaleEnd> RunScale(const ScalePlan& plan, const std::string& jprof,
                          const profile::RunSpreads& usual);

}  // namespace jprof::record
