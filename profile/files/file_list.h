// The list of all files that a profile's directory may contain, in any mode. A file that is added
// to the format must be added here.
#pragma once

#include <algorithm>
#include <string_view>

#include "profile/files/distribution.h"
#include "profile/files/layout.h"
#include "profile/files/numbered_name.h"
#include "profile/files/process_context.h"
#include "profile/files/slow_call.h"

namespace jprof::profile {

// What was counted in each interval, which jprof writes and not the profiled program
// (profile/series/series_format.h).
inline constexpr char kSeriesFile[] = "series";

inline constexpr std::string_view kProfileFiles[] = {
    kMetaFile,          "meta.json.tmp", kControlFile,    kNodesFile,
    kExtraFile,         kMethodsFile,    kTraceFile,      kCompressedTraceFile,
    kTrainFile,         kLocksFile,      kLiveFile,       kJitLogFile,
    kCalibrationFile,   kMergedFile,     kSpreadFile,     kKernelCountsFile,
    kDistributionsFile, kSeriesFile,     "imported.json", kProcessContextFile,
    kSlowCallsFile};

// Returns whether it is one of these, which a killed program may not have renamed yet
// (WriteWholeFile).
inline bool IsProfileFile(std::string_view name) {
  constexpr std::string_view kUnfinished = ".tmp";
  if (name.ends_with(kUnfinished)) name.remove_suffix(kUnfinished.size());
  return std::ranges::find(kProfileFiles, name) != std::ranges::end(kProfileFiles) ||
         kTraceFiles.NumberIn(name) != 0;
}

}  // namespace jprof::profile
