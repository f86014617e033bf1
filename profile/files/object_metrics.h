// Lists the metrics of a profile of mode objects, in the order of the files, with what reports and
// exports call them. They are values of nodes of classes (FrameKind::kClass) below the method that
// allocates.
#pragma once

#include <algorithm>
#include <array>
#include <span>
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

// What code asks for is what it would allocate if compilers removed nothing. Woven code counts it
// in `entries` of a class's node, and readers make it the metric.
inline constexpr std::string_view kAskedMetric = "asked";

inline constexpr std::array<ObjectMetric, 3> kObjectMetrics = {{
    {"bytes", "bytes", "AB", "alloc_space"},
    {"objects", "objects", "AO", "alloc_objects"},
    {kAskedMetric, "objects", "ASKED", "asked_objects"},  // with REMOVED only
}};

// Returns the metrics of a recording.
inline std::span<const ObjectMetric> ObjectMetrics(bool removed) {
  return std::span(kObjectMetrics).first(removed ? 3 : 2);
}

// Returns the row of a metric, or null if it is another one.
inline const ObjectMetric* ObjectMetricOf(const Metric& metric) {
  if (metric.kind != Metric::Kind::kExact) return nullptr;
  const auto found = std::ranges::find(kObjectMetrics, metric.name, &ObjectMetric::name);
  return found != kObjectMetrics.end() ? &*found : nullptr;
}

}  // namespace jprof::profile
