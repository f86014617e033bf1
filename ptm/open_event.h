// How every part of ptm/ asks the kernel for an event: the attributes that an EventSpec means, whom
// it is to count, and what to leave out where the kernel's part is not permitted.
#pragma once

#include <linux/perf_event.h>

#include <vector>

#include "ptm/event_spec.h"

namespace jprof::ptm {

// Whom an event counts: the calling thread unless told otherwise.
struct Target {
  int tid = 0;           // -1: whatever runs on `cpu`
  int cpu = -1;          // -1: any
  bool inherit = false;  // and what it starts from now on; reading sums them up
  bool on_exec = false;  // only from when the task, or what inherits from it, executes a program

  bool IsCaller() const { return tid == 0 && cpu == -1 && !inherit && !on_exec; }
};

// Counts at once, reads a single value.
perf_event_attr AttributesOf(const EventSpec& event);

// A descriptor, in the group of `leader` (-1: its own), or -1 and errno. Where the kernel's part is
// not permitted it is left out, and `attr` says so.
int OpenAllowed(const EventSpec& event, perf_event_attr& attr, const Target& target, int leader);

std::vector<int> OnlineCpus();

}  // namespace jprof::ptm
