// Declares the options that `jprof stat` and `jprof ptt` share.
#pragma once

#include <string>
#include <vector>

#include "cli/shared/command_line.h"
#include "common/result.h"
#include "ptm/names/event_name.h"

namespace jprof::cli {

struct CountingOptions {
  std::vector<std::string> events;  // lists of names
  bool real_time = false;
  std::string format = "text", out;
};

// Adds the options. `options` must outlive the parsing. The texts are the help of --format and -o.
void AddCountingOptions(CommandLine line, CountingOptions& options, const char* format_help,
                        const char* out_help);

// Returns the checked metrics of --events, or the default ones.
Result<ptm::CheckedMetrics> CountedMetrics(const CountingOptions& options);

}  // namespace jprof::cli
