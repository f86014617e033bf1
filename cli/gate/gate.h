// Compares two profiles by conditions, for `jprof compare --fail-if` and `jprof profile --baseline`
// (docs/GATE.md).
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "cli/shared/command_line.h"
#include "common/result.h"
#include "model/open/open.h"
#include "reports/gate/gate_report.h"

namespace jprof::cli {

// Holds what both commands have in common.
struct GateChoice {
  std::vector<std::string> fail_if;
  std::string junit, summary;  // files

  bool IsGiven() const { return !fail_if.empty() || !junit.empty() || !summary.empty(); }
  // Parses the conditions; without any, it is kDefaultCondition.
  Result<std::vector<reports::Condition>> Conditions() const;
};
inline constexpr char kDefaultCondition[] = "calls > 0%";

// Declares --fail-if, --junit and --summary. `choice` must outlive the parsing.
void AddGateOptions(CommandLine line, GateChoice& choice);

// States how a verdict is printed, and where.
struct GateView {
  reports::PrintGate* print = reports::PrintGateText;
  model::NameForm names = model::NameForm::kFull;
  size_t width = 0;
  size_t top = 5;   // methods and contexts of each condition
  std::string out;  // a file; if empty, `stream`
  std::FILE* stream = stdout;
};

// Compares, prints the verdict and writes the files that were chosen. Returns the exit status: 1 if
// a condition is violated, else 0. Fails as reports::LoadGate and reports::Judge do.
Result<int> CompareByConditions(model::Input& base, model::Input& now,
                                const std::vector<reports::Condition>& conditions,
                                const GateChoice& choice, const GateView& view);

}  // namespace jprof::cli
