// Lists the metrics of `jprof locks`: what the node of a lock's class contains besides its count,
// which is how often it was taken.
#pragma once

#include <string_view>
#include <vector>

#include "profile/files/meta.h"

namespace jprof::profile {

inline constexpr std::string_view kLockWait = "wait";     // time waited for the lock
inline constexpr std::string_view kLockSlow = "slow";     // times that it had to be waited for
inline constexpr std::string_view kLockHold = "hold";     // time held; not with LITE
inline constexpr std::string_view kLockFirst = "nonrec";  // times that the thread did not have it

// Returns the metrics in the order of the files, on which JprofHeld.java relies.
std::vector<Metric> LockMetrics(bool lite);

}  // namespace jprof::profile
