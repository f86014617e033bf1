// Finds what delayed the end: the chain of stretches and waits, through several threads, from a
// time back to an earlier one.
//
// Going back from the end of a thread: while it ran, it was the cause itself. Before that it was
// ready, and waited for a processor. It became ready when another thread woke it: until then the
// cause is what that thread did, so the chain goes on there. If an interrupt woke it, the wait
// itself is the cause: a time to sleep, or a device. Where a thread that others waited for was idle
// before they did, or nothing is known of it, the chain goes back to the one that waited.
#pragma once

#include <cstdint>
#include <vector>

#include "model/events/stretches.h"

namespace jprof::model {

struct PathPiece {
  enum class Kind : uint8_t { kRuns, kReady, kWaits };
  Kind kind = Kind::kRuns;
  uint64_t begin = 0, end = 0;
  uint32_t thread = 0;
  size_t stretch = 0;  // index of the one in which it runs, or at whose end it began to wait
};

// Returns the pieces from `from` to `to` without gaps, in the order of time, of which the last one
// is of `thread`. The chain ends early, and the first piece begins after `from`, where nothing is
// known of any of its threads.
std::vector<PathPiece> CriticalPath(const Stretches& stretches, uint32_t thread, uint64_t from,
                                    uint64_t to);

}  // namespace jprof::model
