#include "profile/files/lock_metrics.h"

#include <string>

namespace jprof::profile {
namespace {

constexpr Period EveryEvent() { return {.value = 1, .unit = "events"}; }

Metric Time(std::string_view name) {
  return {.name = std::string(name),
          .unit = "ns",
          .kind = Metric::Kind::kWeighted,
          .period = EveryEvent()};
}

Metric Number(std::string_view name) {
  return {.name = std::string(name),
          .unit = "samples",
          .kind = Metric::Kind::kSamples,
          .period = EveryEvent()};
}

}  // namespace

std::vector<Metric> LockMetrics(bool lite) {
  std::vector<Metric> metrics = {Time(kLockWait), Number(kLockSlow)};
  if (!lite) metrics.push_back(Time(kLockHold));
  metrics.push_back(Number(kLockFirst));
  return metrics;
}

}  // namespace jprof::profile
