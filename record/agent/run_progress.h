// Shows on stderr how far the runs of `jprof profile` are, and about how long the remaining ones
// take. Each run has one line, printed when it begins. If stderr is a terminal and stdout is not,
// the line is rewritten every second and removed at the end of the run; where both are terminals,
// rewriting would damage what the program prints.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>

#include "record/run/status_line.h"

namespace jprof::record {

// Returns "8 s", "3 min 20 s" or "2 h 5 min".
std::string RoughDuration(double seconds);

class RunProgress {
 public:
  // Expects `runs` runs, or fewer if `at_most`. Lines begin with `label` unless it is empty.
  RunProgress(size_t runs, bool at_most, std::string label = "")
      : runs_(runs), at_most_(at_most), label_(std::move(label)) {}

  void Begin(const std::string& how);  // begins a run
  void Look();                         // updates the line; must be called often during a run
  void End();                          // ends the run

  // Returns the line `seconds` after the begin of the run.
  std::string Text(double seconds) const;

 private:
  double Elapsed() const;  // seconds of this run

  size_t runs_;
  bool at_most_;
  std::string label_;
  bool rewrites_ = false;
  StatusLine line_;
  size_t number_ = 0;  // of this run, from 1
  double past_ = 0;    // seconds of the runs before
  std::string how_;
  std::chrono::steady_clock::time_point begin_;
};

}  // namespace jprof::record
