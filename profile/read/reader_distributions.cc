#include <algorithm>

#include "profile/read/reader.h"

namespace jprof::profile {
namespace {

constexpr uint64_t kMostEvents = uint64_t{1} << 44;      // of one bucket; more is damage
constexpr int64_t kMostHandlerTicks = int64_t{1} << 56;  // either sign

// Returns whether the ticks of a bucket are those of its calls. A process that was killed may have
// added one call too much to them.
bool IsPossible(uint32_t number, const TimedCalls& calls) {
  if (calls.calls > kMostEvents || calls.events > kMostEvents || calls.timed > kMostEvents)
    return false;
  const auto count = static_cast<double>(calls.calls), ticks = static_cast<double>(calls.ticks);
  if (ticks < count * static_cast<double>(BucketBegin(number))) return false;
  return number + 1 == kDurationBuckets ||
         ticks <= (count + 1) * static_cast<double>(BucketBegin(number + 1));
}

// Returns false if it contains what no process writes.
bool ReadDurations(const DurationRecord& from, Durations& to) {
  for (uint32_t i = 0; i < kDurationBuckets; ++i) {
    if (from.buckets[i].calls == 0) continue;
    if (!IsPossible(i, from.buckets[i])) return false;
    to.buckets.push_back({i, from.buckets[i]});
  }
  to.shortest = from.shortest;
  to.longest = from.longest;
  for (const TimedCalls* call : {&to.shortest, &to.longest}) {
    if (call->calls > 1 || call->events > kMostEvents || call->timed > kMostEvents) return false;
  }
  return to.buckets.empty() || (to.shortest.calls == 1 && to.longest.calls == 1);
}

size_t BytesOf(const Distribution& distribution) {
  return sizeof distribution +
         (distribution.cpu.buckets.size() + distribution.elapsed.buckets.size()) *
             sizeof(NumberedBucket);
}

}  // namespace

Result<std::vector<Distribution>> Reader::ReadDistributions(uint64_t memory) const {
  if (header_.distributions == 0) return {};
  const ReaderFile file = OpenFile(kDistributionsFile);
  const uint64_t room = file.size() / sizeof(DistributionRecord);
  const uint64_t count = std::min(room, header_.distributions);
  if (count < header_.distributions) {
    damages_.Add("distributions: cut off: some are missing",
                 fmt::format("{} of {} exist", count, header_.distributions));
  }
  std::vector<Distribution> distributions;
  uint64_t used = 0, wrong = 0;
  DistributionRecord record;
  for (uint64_t i = 0; (i = file.NextData(i * sizeof record) / sizeof record) < count; ++i) {
    if (file.ReadAt(i * sizeof record, &record, sizeof record) != sizeof record) break;
    if (record.node == 0) continue;
    Distribution read = {.record = record.node, .handler_ticks = record.handler_ticks};
    const bool plausible =
        record.handler_ticks < kMostHandlerTicks && record.handler_ticks > -kMostHandlerTicks;
    if (!plausible || !ReadDurations(record.cpu, read.cpu) ||
        !ReadDurations(record.elapsed, read.elapsed)) {
      ++wrong;
      continue;
    }
    // The first call may have been counted by one of the clocks only.
    if (read.cpu.buckets.empty() || read.elapsed.buckets.empty()) continue;
    used += BytesOf(read);
    if (used > memory) return NotEnoughMemory(directory_ + "/" + kDistributionsFile, memory);
    distributions.push_back(std::move(read));
  }
  if (wrong != 0)
    damages_.Add("distributions: distributions are not valid: left out", fmt::format("{}", wrong));
  return distributions;
}

}  // namespace jprof::profile
