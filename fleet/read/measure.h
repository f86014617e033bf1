// What the questions about a fleet ask for: calls, or one of the metrics of the selected runs.
#pragma once

#include <string>
#include <vector>

#include "common/result.h"
#include "fleet/read/context_rows.h"

namespace jprof::fleet {

struct Measure {
  std::string name = "calls";
  std::string unit;
  std::string column;    // SQL of its sum over rows, as a Float64: integers could overflow
  double scale = 1;      // a sum times this is in `unit`, by the clock of the first run
  bool is_time = false;  // its sums have to be converted between clocks
  bool is_samples = false;
};

// Returns the measure `name`; an empty name is the first metric, or calls if there is none. Fails
// with kWrongUse if the runs do not have it.
Result<Measure> MeasureOf(Server& server, const std::vector<SelectedRun>& runs,
                          const std::string& name);

// A 95 % interval of a mean: half of its width.
double ArmOfMean(double sum, double squares, double count);

// Returns the name of a method, "pkg.Class.method", of native code, "libjvm.so+0xe4b600", or of a
// thread.
std::string TextOf(const FrameName& frame);

}  // namespace jprof::fleet
