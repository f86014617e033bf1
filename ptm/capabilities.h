// What per-thread metrics this machine offers, found out by trying each, with measured figures; and
// for what it lacks, why and what to change. For tools: takes some 100 ms of the calling thread,
// opens and closes events.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ptm/machine.h"

namespace jprof::ptm {

struct Capability {
  std::string name;  // time, dispatches, hardware, user-read, software
  bool available = false;
  std::string detail;  // what it gives, in words; may stand beside a lack
  std::string lack;    // why not, or not fully, and what to change; empty = nothing
  std::vector<std::pair<std::string, double>> figures;  // unit in the name: read_ns
};

// In the order of the list above.
std::vector<Capability> FindCapabilities(const Machine& machine);

}  // namespace jprof::ptm
