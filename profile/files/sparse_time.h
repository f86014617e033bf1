// States what is timed where only some intervals are (jprof callflow --time-every): the recorder
// follows it (jprof/engine/sparse/intervals.h), and reports compute the error from it.
#pragma once

#include <cstdint>

namespace jprof::profile {

// So many intervals that begin with the same count of a node are all timed. Of the later ones, one
// in TIME_EVERY is, in windows of kWindow intervals in a row. TIME_EVERY is at most kMostTimeEvery.
// After an interval above kLongNs the next ones of its context are timed, too.
inline constexpr uint32_t kFirstTimedIntervals = 16;
inline constexpr uint32_t kWindow = 4;
inline constexpr uint64_t kMostTimeEvery = 100;
inline constexpr double kLongNs = 250;

}  // namespace jprof::profile
