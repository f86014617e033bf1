// Opens perf events for all parts of ptm/: converts an EventSpec to attributes, defines the target
// to count, and excludes kernel mode where it is not permitted.
#pragma once

#include <linux/perf_event.h>

#include <cstdint>
#include <vector>

#include "ptm/event_spec.h"

namespace jprof::ptm {

// What an event counts: by default the calling thread.
struct Target {
  int tid = 0;           // -1: all threads on `cpu`
  int cpu = -1;          // -1: any
  bool inherit = false;  // including threads and processes started later; a read returns the sum
  bool on_exec = false;  // starts when the task, or one that inherits from it, calls exec

  bool IsCaller() const { return tid == 0 && cpu == -1 && !inherit && !on_exec; }
};

// Enabled at once; a read returns a single value.
perf_event_attr AttributesOf(const EventSpec& event);

// Returns a descriptor, in the group of `leader` (-1: its own), or -1 and errno. Where kernel mode
// is not permitted it is excluded, and `attr` reflects that.
int OpenAllowed(const EventSpec& event, perf_event_attr& attr, const Target& target, int leader);

// Returns the kernel's number of the event that a descriptor refers to, which no other event has;
// 0: it refers to no event. Device and inode do not tell events apart. May set errno.
uint64_t EventId(int fd);

std::vector<int> OnlineCpus();

}  // namespace jprof::ptm
