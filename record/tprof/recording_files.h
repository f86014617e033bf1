// Writes the files of a tprof recording besides its samples.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/result.h"
#include "ptm/cpu_sampler.h"
#include "record/tprof/tprof_plan.h"

namespace jprof::record {

// Returns how samples are taken, as text for the report's header.
std::string SamplingText(const ptm::CpuSamplerOptions& options);

// Writes the description of the recording; readers see the old file or the complete new one.
Result<void> WriteRecordingMeta(const TprofPlan& plan, const std::vector<std::string>& notes);

// Copies the code symbols from `kallsyms` into the directory `out`, because a report may be made
// under another kernel. Copies nothing if the kernel hides the addresses from this user.
Result<void> KeepKernelSymbols(const std::filesystem::path& kallsyms,
                               const std::filesystem::path& out);

}  // namespace jprof::record
