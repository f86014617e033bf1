// Finds the per-thread metrics that this machine offers by trying each, with measured figures. For
// what is missing, it states the reason and what to change. It is for tools: it takes about 100 ms
// of the calling thread, and opens and closes events.
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
  std::string lack;    // why it is missing or incomplete, and what to change; empty if complete
  std::vector<std::pair<std::string, double>> figures;  // the name contains the unit: read_ns
};

// Returns the capabilities in the order of the list above.
std::vector<Capability> FindCapabilities(const Machine& machine);

}  // namespace jprof::ptm
