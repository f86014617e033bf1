// Plans the runs of `jprof profile`: a program runs several times, sampled and counted.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/result.h"
#include "profile/read/combined.h"
#include "record/agent/recording_plan.h"

namespace jprof::record {

inline constexpr int kMostSampledRuns = 20;

struct SequenceRequest {
  TypedOptions typed;  // what both kinds of runs have in common, --rate and --metrics
  options::Mode counted = options::Mode::kCalltree;  // or kCallflow
  // How many runs are sampled, or "auto": one run that is counted and sampled and, if counting
  // changes its times, sampled ones.
  std::string runs = "2";
  bool recounts = false;  // as many runs are counted as sampled, to know which calls vary
  int least_runs = 1;     // that `runs` may be; 0: the program may be counted only
  std::string label;      // what the runs are of, for the user: "n = 1000"; may be empty
};

struct PlannedRun {
  profile::Run::Role role;
  std::string name;  // of the profile's directory
  std::string how;   // for the user, such as "sampled, 1000/s"
  RecordingPlan plan;
};

struct RunSequence {
  std::filesystem::path out;      // the directory of the combined profile, which exists
  std::string label;              // what the runs are of; may be empty
  bool begins_with_both = false;  // the first run is counted and sampled, and may be enough
  std::vector<PlannedRun> runs;
  std::vector<std::string> notes;
};

// Checks all runs before anything is started. Fails with kWrongUse also if JPROFOPTS changes what
// the sequence consists of.
Result<RunSequence> PlanRuns(const SequenceRequest& request,
                             const std::vector<std::string>& command);

}  // namespace jprof::record
