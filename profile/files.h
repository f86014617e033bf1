// Every file that a profile's directory may hold, whatever was recorded. Whoever adds a file to the
// format adds it here.
#pragma once

#include <algorithm>
#include <string_view>

#include "profile/jit_log.h"
#include "profile/layout.h"

namespace jprof::profile {

inline constexpr std::string_view kProfileFiles[] = {
    kMetaFile,  "meta.json.tmp",      kControlFile, kNodesFile,  kExtraFile,      kMethodsFile,
    kTraceFile, kCompressedTraceFile, kTrainFile,   kJitLogFile, kCalibrationFile};

inline bool IsProfileFile(std::string_view name) {
  return std::ranges::find(kProfileFiles, name) != std::ranges::end(kProfileFiles);
}

}  // namespace jprof::profile
