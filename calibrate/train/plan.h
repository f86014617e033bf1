// Describes a calibration: which programs are run, for which metrics, and how thoroughly.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/train/child.h"
#include "common/result.h"

namespace jprof::calibrate {

struct Plan {
  std::filesystem::path java;
  std::filesystem::path agent;     // libjprof.so
  std::filesystem::path trainers;  // trainers.jar
  std::filesystem::path natives;   // libjprof_trainer.so
  // The trainer of C and C++ functions (trainers/hook_trainer.cc), which is run in place of Java's.
  // If this is empty, Java's are run.
  std::filesystem::path hook_trainer;
  std::filesystem::path work;    // an existing directory; profiles and logs go here
  std::string metrics = "time";  // in the agent's notation: a+b
  bool quick = false;            // fewer walks and repetitions for a coarser table
  std::function<void(int done, int total, std::string_view step)> progress;  // may be empty
  std::function<bool()> interrupted;  // returns true to kill the trainer and fail; may be empty
  // Runs a trainer in place of RunChild (child.h), under a tracer that counts its instructions.
  std::function<Result<ChildResult>(const std::vector<std::string>& argv,
                                    const std::filesystem::path& log)>
      run_traced;
};

}  // namespace jprof::calibrate
