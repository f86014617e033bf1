#include "cpo/agents/jvm_heap/heap_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace jprof::cpo {
namespace {

constexpr uint64_t kMebibyte = uint64_t{1} << 20;
constexpr uint64_t kFewestPauses = 5;   // fewer say nothing about the mean
constexpr double kLeastSaved = 0.010;   // seconds; less is not worth options
constexpr double kPausesLeft = 0.1;     // the share of pauses that an eden is chosen for
constexpr double kLongestFull = 0.5;    // seconds that a full collection may take
constexpr double kFullRate = 250e6;     // live bytes a second and processor that it moves
constexpr double kOldForLive = 2.0;     // the old generation, as a multiple of what is live
constexpr double kYoungForEden = 1.25;  // the young generation, with room for survivors

struct YoungPauses {
  double mean = 0, shortest = 0;  // seconds
  double count = 0;
};

YoungPauses YoungOf(const GcLog& log) {
  YoungPauses young = {.mean = 0, .shortest = INFINITY, .count = 0};
  for (const GcPause& pause : log.pauses) {
    if (pause.kind != GcPause::Kind::kYoung) continue;
    young.mean += pause.seconds;
    young.shortest = std::min(young.shortest, pause.seconds);
    young.count += 1;
  }
  if (young.count > 0) young.mean /= young.count;
  return young;
}

// Returns the eden, in MiB, that leaves a tenth of the pauses, or the largest for which there is
// room.
uint64_t EdenMib(const GcLog& log, const HeapLimits& limits, double pauses) {
  const double wanted = static_cast<double>(log.Allocated()) / std::max(1.0, pauses * kPausesLeft);
  const double room =
      static_cast<double>(limits.heap) - kOldForLive * static_cast<double>(log.Live());
  const double most = std::min(wanted, room / kYoungForEden) / static_cast<double>(kMebibyte);
  return most < 1 ? 0 : std::bit_floor(static_cast<uint64_t>(most));
}

bool SuitsParallel(const GcLog& log, const HeapLimits& limits) {
  const double full = static_cast<double>(log.Live()) / (kFullRate * limits.processors);
  return limits.may_choose_collector && log.collector == "G1" && full <= kLongestFull;
}

}  // namespace

std::optional<HeapAdvice> AdviseHeap(const GcLog& log, const HeapLimits& limits) {
  const YoungPauses young = YoungOf(log);
  if (young.count < kFewestPauses) return std::nullopt;
  const uint64_t eden = EdenMib(log, limits, young.count);
  if (eden == 0) return std::nullopt;
  const double pauses =
      std::ceil(static_cast<double>(log.Allocated()) / static_cast<double>(eden * kMebibyte));
  const double fewer = young.count - pauses;
  HeapAdvice advice;
  advice.low = fewer * young.shortest;
  advice.high = fewer * young.mean;
  advice.saved = (advice.low + advice.high) / 2;
  if (advice.saved < kLeastSaved) return std::nullopt;
  const auto young_mib =
      static_cast<uint64_t>(std::ceil(static_cast<double>(eden) * kYoungForEden));
  const uint64_t old_mib =
      static_cast<uint64_t>(kOldForLive * static_cast<double>(log.Live())) / kMebibyte + 1;
  advice.options =
      fmt::format("{}-Xmn{}m -Xms{}m", SuitsParallel(log, limits) ? "-XX:+UseParallelGC " : "",
                  young_mib, young_mib + old_mib);
  advice.cost = fmt::format("a heap of at least {} MiB", young_mib + old_mib);
  return advice;
}

}  // namespace jprof::cpo
