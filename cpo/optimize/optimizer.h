// Runs a program once, measured or with directives, and stores what came of it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cpo/agents/agent.h"
#include "cpo/database/store.h"

namespace jprof::cpo {

struct OptimizeRequest {
  ProgramCommand command;
  std::vector<Agent*> agents;  // eligible, in the order in which they are considered
  bool on_request = false;     // the user asked for runs with directives of this agent
  bool measure = false;        // measure again
};

// Runs a program to its end (record::Run, or record::ProgramRuns).
using RunProgram =
    std::function<Result<record::Outcome>(const record::Launch&, const record::ProcessObserver&)>;

struct OptimizedRun {
  record::Outcome outcome;
  std::string text;              // one line that says what was done
  std::optional<Error> failure;  // the end could not be stored
};

// Returns what the next run would do, and how, without changing anything.
struct PlannedRun {
  uint32_t number = 1;
  RunPlan plan;
  std::vector<Directive> directives;  // that would be applied, unless their claims are refused
  record::Launch launch;              // with the changes of the agents
};
Result<PlannedRun> PlanNextRun(const History& history, const OptimizeRequest& request);

// Runs the program once. Fails if it could not be started, or if the database could not be used
// before it was started.
Result<OptimizedRun> OptimizeOnce(Store& store, const ProgramKey& program,
                                  const MachineKey& machine, const OptimizeRequest& request,
                                  const RunProgram& run);

}  // namespace jprof::cpo
