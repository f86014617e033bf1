// Counts instructions and cycles in user mode: `jprof cpi`.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "common/result.h"
#include "ptm/event_spec.h"
#include "record/run/java_command.h"

namespace jprof::record {

struct CpiFigures {
  double seconds = 0;
  std::optional<double> instructions, cycles;  // none if not counted during the whole interval

  std::optional<double> Cpi() const {
    if (!instructions || !cycles || *instructions == 0) return std::nullopt;
    return *cycles / *instructions;
  }
};

using PrintFigures = std::function<void(const CpiFigures&)>;

// The events for instructions, then those for cycles.
using CpiEvents = std::vector<ptm::EventSpec>;

// Runs a command and counts it with its descendants. Returns its exit status.
Result<int> CountCpiOfCommand(const CpiEvents& events, const Launch& launch,
                              const PrintFigures& print);

// Counts a process, or with 0 the machine, `count` times for `interval` seconds, or until SIGINT or
// SIGTERM arrives. Returns 0.
Result<int> CountCpiOfIntervals(const CpiEvents& events, uint32_t pid, double interval,
                                uint64_t count, const PrintFigures& print);

}  // namespace jprof::record
