// Opens perf events for all parts of ptm/: converts an EventSpec to attributes, defines the target
// to count, and excludes kernel mode where it is not permitted.
#pragma once

#include <linux/perf_event.h>

#include <cstdint>
#include <vector>

#include "ptm/event_spec.h"

namespace jprof::ptm {

// The target that an event counts, by default the calling thread.
struct Target {
  int tid = 0;           // -1 for all threads on `cpu`
  int cpu = -1;          // -1 for any
  bool inherit = false;  // includes threads and processes started later; a read returns the sum
  bool on_exec = false;  // starts when the task, or one that inherits from it, calls exec

  bool IsCaller() const { return tid == 0 && cpu == -1 && !inherit && !on_exec; }
};

// Returns the attributes of an event that is enabled at once and whose read returns a single value.
perf_event_attr AttributesOf(const EventSpec& event);

// Opens an event in the group of `leader`, or in its own if that is -1. Returns a descriptor, or -1
// and sets errno. If kernel mode is not permitted, it is excluded, and `attr` reflects that.
int OpenAllowed(const EventSpec& event, perf_event_attr& attr, const Target& target, int leader);

// Returns the kernel's number of the event that a descriptor refers to, which no other event has,
// or 0 if it refers to no event. Device and inode do not distinguish events. May set errno.
uint64_t EventId(int fd);

std::vector<int> OnlineCpus();

}  // namespace jprof::ptm
