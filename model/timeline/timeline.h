// Declares what happened when: events with points in time, on tracks. Readers know only this
// interface; each kind of recording that has points in time implements it (trace_timeline.h,
// arc_timeline.h). Events are made while they are visited and are never stored: a recording may
// have hundreds of millions.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "common/result.h"
#include "model/tree/context_tree.h"

namespace jprof::model {

// Names the clock of all times of a timeline.
enum class ClockId : uint8_t {
  kThreadTime,  // each thread's own time, which begins when its recording does and stops while the
                // thread does not run: times of different threads cannot be compared
  kMonotonic,   // CLOCK_MONOTONIC of the machine
};

// Describes a line of the timeline.
struct Track {
  enum class Kind : uint8_t { kProcess, kThread, kCounter };
  Kind kind = Kind::kProcess;
  std::string name;     // of the process, of the thread, of what is counted
  uint64_t pid = 0;     // of all three
  uint32_t tid = 0;     // of threads and their counters; distinguishes the threads of a process
  uint32_t parent = 0;  // index of a thread's process and of a counter's thread
};

// Begins a slice, which is within the innermost open slice of the track.
struct SliceBegin {
  uint32_t name = 0;        // a number that is unique for the text
  std::string_view text;    // as reports print it, without the letter; valid during the visit
  char type = '?';          // the letter
  bool counts_call = true;  // false: execution came here other than by a call
};

// Ends the innermost open slice of the track.
struct SliceEnd {};

// Marks a moment.
struct Instant {
  std::string_view name;  // valid during the visit
};

// Sets the value of a counter, whose track it is on.
struct CounterValue {
  uint64_t value = 0;
};

struct TimelineEvent {
  using What = std::variant<SliceBegin, SliceEnd, Instant, CounterValue>;
  uint32_t track = 0;  // index into Timeline::tracks()
  uint64_t ns = 0;     // of Timeline::clock(); never less than that of the track's previous event
  What what;
};

// Contains what is known of a timeline once all of it was visited.
struct Visited {
  std::vector<std::string> notes;  // what the clock is, and what the timeline lacks
  RunDescription run;

  // Returns the notes, then those of the run.
  std::vector<std::string> AllNotes() const {
    std::vector<std::string> all = notes;
    all.insert(all.end(), run.notes.begin(), run.notes.end());
    return all;
  }
};

class Timeline {
 public:
  using OnEvent = std::function<bool(const TimelineEvent& event)>;

  virtual ~Timeline() = default;
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  ClockId clock() const { return clock_; }
  // Returns the time at which recording began, by clock() and by the calendar.
  uint64_t start_ns() const { return start_ns_; }
  uint64_t start_unix_ns() const { return start_unix_ns_; }
  // Returns all tracks: processes are before their threads, and threads before their counters.
  const std::vector<Track>& tracks() const { return tracks_; }

  // Calls `on_event` for each event until it returns false. Events of one track are in order; those
  // of different tracks may be interleaved in any way. All slices have an end. Fails before the
  // first event or not at all.
  virtual Result<Visited> Visit(const OnEvent& on_event) = 0;

 protected:
  Timeline(ClockId clock, uint64_t start_ns, uint64_t start_unix_ns)
      : clock_(clock), start_ns_(start_ns), start_unix_ns_(start_unix_ns) {}

  uint32_t AddTrack(Track track) {
    tracks_.push_back(std::move(track));
    return static_cast<uint32_t>(tracks_.size() - 1);
  }

 private:
  ClockId clock_;
  uint64_t start_ns_, start_unix_ns_;
  std::vector<Track> tracks_;
};

}  // namespace jprof::model
