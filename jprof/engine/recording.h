// Defines the kinds of recording: what is recorded at an event. Each is a type, for which the event
// functions are instantiated, and a value, which the options select. A new kind is one more type
// and one more entry in a list here.
#pragma once

#include <cstddef>
#include <cstdint>

namespace jprof::engine {

inline constexpr int kNoCounters = -1;
struct CountTree {
  static constexpr bool kClock = false, kTrain = false, kTrace = false, kSites = false;
  static constexpr bool kSparse = false;
  static constexpr int kCounters = kNoCounters;
};
// Keeps calls from different sites of a caller apart. Its entries of Java methods are handled by
// EnterAtSite.
struct SiteTree : CountTree {
  static constexpr bool kSites = true;
};
struct TimeTree : CountTree {
  static constexpr bool kClock = true;
};
// Reads the clock for some intervals only (sparse/intervals.h).
struct SparseTimeTree : TimeTree {
  static constexpr bool kSparse = true;
};
struct TimeTrace : TimeTree {
  static constexpr bool kTrace = true;
};
// Has counters as metrics, after time if that is also one. They are exact: each event reads them
// early and late; none is timed. N is their number, or 0 if it is known only at run time.
template <bool kWithTime, int N>
struct CounterTree : CountTree {
  static constexpr bool kClock = kWithTime;
  static constexpr int kCounters = N;
};

using OneCounter = CounterTree<false, 1>;
using TwoCounters = CounterTree<false, 2>;
using ManyCounters = CounterTree<false, 0>;
using TimeAndOneCounter = CounterTree<true, 1>;
using TimeAndCounters = CounterTree<true, 0>;

// Records in addition one record per event and metric for `jprof calibrate`. Records are written
// between the early and the late read, so their cost is in no interval.
template <class R>
struct Training : R {
  static constexpr bool kTrain = true;
};

// Lists every kind by type. The second list contains those with time or counters in a tree, to
// which calibration applies.
#define JPROF_UNTRAINED_RECORDINGS(EACH) \
  EACH(CountTree)                        \
  EACH(SiteTree)                         \
  EACH(SparseTimeTree)                   \
  EACH(TimeTrace)
#define JPROF_TRAINED_RECORDINGS(EACH) \
  EACH(TimeTree)                       \
  EACH(OneCounter)                     \
  EACH(TwoCounters)                    \
  EACH(ManyCounters)                   \
  EACH(TimeAndOneCounter)              \
  EACH(TimeAndCounters)

// Lists the kinds as values: RecordingKind::kCountTree, ...
#define JPROF_KIND(R) k##R,
enum class RecordingKind : uint8_t {
  JPROF_UNTRAINED_RECORDINGS(JPROF_KIND) JPROF_TRAINED_RECORDINGS(JPROF_KIND)
};
#undef JPROF_KIND

// Returns the kind of a tree with time, with `counters` counters, or with both.
constexpr RecordingKind TreeWith(bool time, size_t counters) {
  if (counters == 0) return time ? RecordingKind::kTimeTree : RecordingKind::kCountTree;
  if (time)
    return counters == 1 ? RecordingKind::kTimeAndOneCounter : RecordingKind::kTimeAndCounters;
  if (counters == 1) return RecordingKind::kOneCounter;
  return counters == 2 ? RecordingKind::kTwoCounters : RecordingKind::kManyCounters;
}

// Calls f.template operator()<R>() with the kind's type or, if `train`, with Training of it. A kind
// that cannot be trained ignores `train`.
template <class F>
auto Visit(RecordingKind kind, bool train, F f) {
  switch (kind) {
#define JPROF_CASE(R)       \
  case RecordingKind::k##R: \
    return f.template operator()<R>();
    JPROF_UNTRAINED_RECORDINGS(JPROF_CASE)
#undef JPROF_CASE
#define JPROF_CASE(R)       \
  case RecordingKind::k##R: \
    return train ? f.template operator()<Training<R>>() : f.template operator()<R>();
    JPROF_TRAINED_RECORDINGS(JPROF_CASE)
#undef JPROF_CASE
  }
  __builtin_unreachable();
}

}  // namespace jprof::engine
