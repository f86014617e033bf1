// Lists the metrics of a profile of mode objects, in the order of the files, with what reports and
// exports call them. They are values of nodes of classes (FrameKind::kClass) below the method that
// allocates. Those of live objects exist with LIVE only, and are of kind kEstimate if objects were
// sampled; what code asks for exists with REMOVED only.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

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
  bool live = false;         // of the objects that still existed at the last snapshot
};

// What code asks for is what it would allocate if compilers removed nothing. Woven code counts it
// in `entries` of a class's node, and readers make it the metric.
inline constexpr std::string_view kAskedMetric = "asked";

inline constexpr std::array<ObjectMetric, 5> kObjectMetrics = {{
    {"bytes", "bytes", "AB", "alloc_space"},
    {"objects", "objects", "AO", "alloc_objects"},
    {"live_bytes", "bytes", "LB", "inuse_space", true},
    {"live_objects", "objects", "LO", "inuse_objects", true},
    {kAskedMetric, "objects", "ASKED", "asked_objects"},
}};
inline constexpr size_t kAllocated = 2;  // the number of those that every recording has

// Returns the metrics of a recording with LIVE or REMOVED.
inline std::vector<ObjectMetric> ObjectMetrics(bool live, bool removed) {
  std::vector<ObjectMetric> metrics;
  for (const ObjectMetric& metric : kObjectMetrics)
    if ((!metric.live || live) && (metric.name != kAskedMetric || removed))
      metrics.push_back(metric);
  return metrics;
}

// Returns the row of a metric, or null if it is another one.
inline const ObjectMetric* ObjectMetricOf(const Metric& metric) {
  if (metric.kind != Metric::Kind::kExact && !metric.is_estimate()) return nullptr;
  const auto found = std::ranges::find(kObjectMetrics, metric.name, &ObjectMetric::name);
  return found != kObjectMetrics.end() ? &*found : nullptr;
}

// Returns whether it is one of those that exist with LIVE only.
inline bool IsLive(const Metric& metric) {
  const ObjectMetric* const object = ObjectMetricOf(metric);
  return object != nullptr && object->live;
}

}  // namespace jprof::profile
