// Reads from /proc and /sys what this machine and its settings permit, and explains by it why an
// event could not be opened. ReadMachine opens files; Explain is pure.
#pragma once

#include <optional>
#include <string>

#include "ptm/event_spec.h"

namespace jprof::ptm {

struct Machine {
  std::string pmu;                 // the CPU's counters as the kernel names them; empty if none
  std::string cpu = "unknown";     // its model
  bool virtual_machine = false;    // the CPU reports a hypervisor
  bool privileged = false;         // CAP_PERFMON or CAP_SYS_ADMIN, so paranoid does not apply
  bool invariant_tsc = false;      // the TSC has a constant rate in all power states
  std::optional<int> paranoid;     // kernel.perf_event_paranoid; none if no perf events exist
  std::optional<int> user_access;  // x86: the cpu device's rdpmc; AArch64: kernel.perf_user_access
};

// Reads the machine. `root` is the directory that contains /proc and /sys (tests pass their own).
Machine ReadMachine(const std::string& root = "");

// Returns which memory the kernel may put on large pages: "always", "madvise" (what programs ask
// for), "never", or an empty text if it has no transparent large pages.
std::string LargePageSetting(const std::string& root = "");

// Explains why perf_event_open failed with `error` (an errno) for this event, and what to change.
// Returns one line without a newline.
std::string Explain(const EventSpec& event, int error, const Machine& machine);

// Explains why a machine without a PMU has no hardware counters, and what to do.
std::string WhyNoPmu(const Machine& machine);

}  // namespace jprof::ptm
