#include "record/run/program_runs.h"

namespace jprof::record {

Result<ProgramRun> ProgramRuns::Run(const Launch& launch, const ProcessObserver& observe) {
  const auto input = input_.Begin();
  if (!input) return std::unexpected(input.error());
  const auto output = output_.Begin();
  if (!output) {
    input_.End();
    return std::unexpected(output.error());
  }
  const auto outcome = record::Run(launch, {.input = *input, .output = *output}, observe);
  ++runs_;
  input_.End();
  auto comparison = output_.End();
  if (!outcome) return std::unexpected(outcome.error());
  return ProgramRun{*outcome, std::move(comparison)};
}

}  // namespace jprof::record
