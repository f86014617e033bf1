// Lists the metrics of a profile of mode objects, in the order of the files, with what reports and
// exports call them. They are values of nodes of classes (FrameKind::kClass) below the method that
// allocates. The last two are those of the objects that still existed at the last snapshot; they
// exist with LIVE only, and are of kind kEstimate if objects were sampled.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "profile/files/meta.h"

namespace jprof::profile {

// The name of the row of each thread with the difference between the VM's own account of its bytes
// and the objects that were counted.
inline constexpr char kUnseenRow[] = "(not seen by the probe)";

struct ObjectMetric {
  std::string_view name;
  std::string_view unit;
  std::string_view heading;  // of log-rt's column
  std::string_view pprof;    // type of sample
};

inline constexpr std::array<ObjectMetric, 4> kObjectMetrics = {{
    {"bytes", "bytes", "AB", "alloc_space"},
    {"objects", "objects", "AO", "alloc_objects"},
    {"live_bytes", "bytes", "LB", "inuse_space"},
    {"live_objects", "objects", "LO", "inuse_objects"},
}};
inline constexpr size_t kAllocated = 2;  // the number of those without LIVE

// Returns the row of a metric, or null if it is another one.
inline const ObjectMetric* ObjectMetricOf(const Metric& metric) {
  if (metric.kind != Metric::Kind::kExact && !metric.is_estimate()) return nullptr;
  const auto found = std::ranges::find(kObjectMetrics, metric.name, &ObjectMetric::name);
  return found != kObjectMetrics.end() ? &*found : nullptr;
}

// Returns whether it is one of those that exist with LIVE only.
inline bool IsLive(const Metric& metric) {
  const ObjectMetric* const object = ObjectMetricOf(metric);
  return object != nullptr && object - kObjectMetrics.data() >= std::ptrdiff_t{kAllocated};
}

}  // namespace jprof::profile
