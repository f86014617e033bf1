// The files of a tprof recording besides its samples.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/result.h"
#include "ptm/cpu_sampler.h"
#include "record/tprof_plan.h"

namespace jprof::record {

// How samples are taken, for the report's header.
std::string SamplingText(const ptm::CpuSamplerOptions& options);

// Writes the description of the recording; a reader sees the old file or the whole new one.
Result<void> WriteRecordingMeta(const TprofPlan& plan, const std::vector<std::string>& notes);

// Copies the symbols of code from `kallsyms` into the directory `out`: a report may be made when
// another kernel runs. Copies nothing if the kernel hides the addresses from this user.
Result<void> KeepKernelSymbols(const std::filesystem::path& kallsyms,
                               const std::filesystem::path& out);

}  // namespace jprof::record
