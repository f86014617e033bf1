// Times each call of watched methods, which a session selects (SessionOptions::watch), and counts
// it in the distribution of its context (profile/files/distribution.h).
//
// Entries and exits of watched methods leave the fast path by conditions that it has anyway: no
// event has the mark of the cached method (MethodCache) and of the frame (kWatchedBit). Their
// handlers are timed alone, so that what they take is in no call.
//
// A call that ends without an exit, as by an exception, ends when its frame is ended. The functions
// below are for slow paths, and only the thread itself may call them.
#pragma once

#include <cstdint>

#include "jprof/engine/method_table.h"
#include "jprof/engine/thread.h"
#include "profile/files/distribution.h"
#include "profile/files/writer.h"

namespace jprof::engine {

// A watched call that has not ended: where it is counted, and the state at its entry.
struct WatchedCall {
  profile::DistributionRecord* record = nullptr;
  int64_t entered = 0;  // the raw clock
  Progress before;      // of the timeline
};

// Finds the distribution of each context of a watched method.
class WatchedCalls {
 public:
  WatchedCalls(profile::Writer& writer, const MethodTable& methods)
      : writer_(writer), methods_(methods) {}
  ~WatchedCalls();
  WatchedCalls(const WatchedCalls&) = delete;
  WatchedCalls& operator=(const WatchedCalls&) = delete;

  // Allocates what is needed. Call it once, after the files are open. Returns false if there is no
  // memory. Without it no method is watched.
  bool Open();

  bool IsWatched(profile::MethodId method) const { return methods_.IsWatched(method); }
  // Returns the distribution of a node, or null if there is no space for it. Requires Open, and
  // that only the thread that the node's timeline is on calls this.
  profile::DistributionRecord* RecordOf(const profile::Node& node);

 private:
  profile::Writer& writer_;
  const MethodTable& methods_;
  uint32_t* places_ = nullptr;  // by node: one more than the place of its record, or 0
  uint64_t nodes_ = 0;          // elements of it
};

// Returns whether the call of a frame is being timed.
inline bool IsWatched(const Frame& frame) { return (frame.method & kWatchedBit) != 0; }

// Begins a call of a method at Thread::last, if the method is watched. `node` is its context, or
// another one where there was no space for it. Returns whether the call is timed: its frame must
// then get kWatchedBit.
bool BeginIfWatched(Thread& thread, profile::MethodRef method, const profile::Node& node);
// Ends the innermost call that is timed, at Thread::last. Call it once for each frame with
// kWatchedBit that ends.
void EndWatchedCall(Thread& thread);

// Returns what the current timeline has gone through until Thread::last.
Progress OfTimeline(const Thread& thread);

// Take the current timeline from its thread, and give it to one, at Thread::last. The progress of
// the timeline does not include what threads do between the two calls.
void PauseProgress(Thread& thread);
void ResumeProgress(Thread& thread);

}  // namespace jprof::engine
