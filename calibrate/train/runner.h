// Runs programs of the trainers, with and without the profiler.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "calibrate/train/observation.h"
#include "calibrate/train/plan.h"
#include "calibrate/train/programs.h"
#include "common/result.h"
#include "profile/read/reader.h"

namespace jprof::calibrate {

class Runner {
 public:
  // The plan must live as long as the runner. `total` is the number of runs, for its `progress`.
  Runner(const Plan& plan, int total) : plan_(plan), total_(total) {}

  // Runs the trainer, under the agent if `agent_options` is not empty.
  Result<Truth> Run(std::string_view step, const Program& program,
                    const std::string& agent_options);

  struct Profiled {
    profile::Reader reader;
    profile::Methods methods;
  };

  // Runs it under the agent and returns the profile, with the intervals if `train`.
  Result<Profiled> Profile(std::string_view step, const Program& program, bool train);

 private:
  std::vector<std::string> Command(const Program& program, const std::string& agent_options) const;
  std::vector<std::string> HookCommand(const Program& program,
                                       const std::string& agent_options) const;

  const Plan& plan_;
  int total_;
  int done_ = 0;
  FunctionNames functions_;  // of the last run
};

}  // namespace jprof::calibrate
