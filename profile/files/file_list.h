// The list of all files that a profile's directory may contain, in any mode. A file that is added
// to the format must be added here.
#pragma once

#include <algorithm>
#include <string_view>

#include "profile/files/layout.h"

namespace jprof::profile {

inline constexpr std::string_view kProfileFiles[] = {
    kMetaFile,        "meta.json.tmp", kControlFile, kNodesFile,
    kExtraFile,       kMethodsFile,    kTraceFile,   kCompressedTraceFile,
    kTrainFile,       kLocksFile,      kLiveFile,    kJitLogFile,
    kCalibrationFile, kMergedFile,     kSpreadFile,  kKernelCountsFile};

inline bool IsProfileFile(std::string_view name) {
  return std::ranges::find(kProfileFiles, name) != std::ranges::end(kProfileFiles);
}

}  // namespace jprof::profile
