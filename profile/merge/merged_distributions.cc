#include "profile/merge/merged_distributions.h"

#include <algorithm>
#include <cmath>

#include "profile/files/out_file.h"

namespace jprof::profile {
namespace {

constexpr uint64_t kLastPattern = 63;  // whose bit stands for all further ones
constexpr double kMostFactor = 16;     // damage has any; a reader limits handler_ticks to 2^56

TimedCalls Rescaled(TimedCalls calls, double factor) {
  constexpr double kMost = 0x1p62;
  if (factor != 1) {
    calls.ticks = static_cast<uint64_t>(
        std::min(kMost, std::round(static_cast<double>(calls.ticks) * factor)));
  }
  return calls;
}

void AddTo(TimedCalls& sum, const TimedCalls& calls) {
  sum.calls += calls.calls;
  sum.ticks += calls.ticks;
  sum.events += calls.events;
  sum.timed += calls.timed;
}

void AddTo(DurationRecord& sum, const Durations& durations, double factor) {
  const TimedCalls shortest = Rescaled(durations.shortest, factor);
  const TimedCalls longest = Rescaled(durations.longest, factor);
  if (sum.shortest.calls == 0 || shortest.ticks < sum.shortest.ticks) sum.shortest = shortest;
  if (sum.longest.calls == 0 || longest.ticks > sum.longest.ticks) sum.longest = longest;
  for (const NumberedBucket& bucket : durations.buckets) {
    const TimedCalls calls = Rescaled(bucket.calls, factor);
    // Another rate of the clock may move calls to the next bucket.
    const uint32_t number = factor == 1 ? bucket.number : BucketOf(calls.ticks / calls.calls);
    AddTo(sum.buckets[number], calls);
  }
}

}  // namespace

void MergedDistributions::AddPatterns(const Reader& reader) {
  const std::vector<std::string>& theirs = reader.meta().options.distribution;
  for (uint64_t i = 0; i < theirs.size(); ++i) {
    const auto known = std::ranges::find(patterns_, theirs[i]);
    const auto place = static_cast<uint64_t>(known - patterns_.begin());
    if (known == patterns_.end()) patterns_.push_back(theirs[i]);
    if ((reader.header().watched_patterns >> std::min(i, kLastPattern) & 1) != 0)
      matched_ |= uint64_t{1} << std::min(place, kLastPattern);
  }
}

void MergedDistributions::Add(const Reader& reader, const std::vector<Distribution>& distributions,
                              const std::vector<uint32_t>& contexts, double factor) {
  AddPatterns(reader);
  for (const Distribution& distribution : distributions) {
    const uint32_t context = contexts[distribution.record];
    std::unique_ptr<DistributionRecord>& record = records_[context];
    if (record == nullptr) record = std::make_unique<DistributionRecord>();
    record->node = context + 1;
    record->handler_ticks += std::llround(static_cast<double>(distribution.handler_ticks) *
                                          std::clamp(factor, 0.0, kMostFactor));
    AddTo(record->cpu, distribution.cpu, factor);
    AddTo(record->elapsed, distribution.elapsed, factor);
  }
}

Result<void> MergedDistributions::Write(const std::string& directory) const {
  if (records_.empty()) return {};
  OutFile out(directory + "/" + kDistributionsFile);
  for (const auto& [context, record] : records_) out.Write(*record);
  return out.Close();
}

}  // namespace jprof::profile
