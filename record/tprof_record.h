// A tprof recording from end to end: samples, what happens to address spaces meanwhile, and all
// that names will need later, into one directory.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/result.h"
#include "ptm/sampler.h"
#include "record/java_command.h"

namespace jprof::record {

struct TprofPlan {
  std::filesystem::path out;     // a directory that does not exist
  ptm::SamplerOptions sampling;  // pids empty and no launch: the whole machine
  bool whole_machine = false;    // although there is a command
  std::optional<Launch> launch;  // run this meanwhile
  double delay = 0;              // seconds before the first sample
  double duration = 0;           // seconds; 0: until the command ends, or Ctrl-C
  std::string command;           // for the header
  std::vector<std::string> notes;
};

// Records until the command has ended, the duration is over or SIGINT or SIGTERM comes; answers the
// command's exit status (0: none, or interrupted).
Result<int> RecordTprof(const TprofPlan& plan);

// The names in a directory of /proc that are numbers: processes, threads.
std::vector<uint32_t> NumbersIn(const std::filesystem::path& directory);
// Empty: there is none.
std::string FirstLine(const std::filesystem::path& path);

}  // namespace jprof::record
