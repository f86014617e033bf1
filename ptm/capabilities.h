// The per-thread metrics that this machine offers, determined by trying each, with measured
// figures; and for what is missing, the reason and what to change. For tools: takes about 100 ms of
// the calling thread, opens and closes events.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ptm/machine.h"

namespace jprof::ptm {

struct Capability {
  std::string name;  // time, dispatches, hardware, user-read, software
  bool available = false;
  std::string detail;  // what it provides, in words; may be set together with a lack
  std::string lack;    // why it is missing or incomplete, and what to change; empty = complete
  std::vector<std::pair<std::string, double>> figures;  // the name contains the unit: read_ns
};

// In the order of the list above.
std::vector<Capability> FindCapabilities(const Machine& machine);

}  // namespace jprof::ptm
