// Receives events that are not calls, such as allocations and contended monitors, and records them
// in the calling context in which they happen. The sources of events do not know that context:
// Sampling, which implements this, walks the stack.
#pragma once

#include <cstddef>
#include <cstdint>

namespace jprof::agent {

class EventSink {
 public:
  static constexpr size_t kMostMetrics = 8;

  // Holds what a source of events knows about one thread, by metric. The thread owns it.
  struct ThreadEvents {
    uint64_t count[kMostMetrics] = {};     // number of events so far
    uint64_t since_ns[kMostMetrics] = {};  // start of the event that is being timed, or 0
  };

  // Returns the events of the calling thread, or null if the thread is not recorded.
  virtual ThreadEvents* EventsOfThread() = 0;
  // Returns whether events are recorded now.
  virtual bool TakesEvents() const = 0;
  // Adds an event of the calling thread to its context. `weight` is the value of the event if the
  // metric is weighted. With `leaf`, the signature of a class, the context is that class below the
  // calling method. Requires that the thread is recorded.
  virtual void AddEvent(size_t metric, int64_t weight, const char* leaf) = 0;

 protected:
  ~EventSink() = default;
};

}  // namespace jprof::agent
