#include <algorithm>
#include <bit>
#include <functional>

#include "profile/files/printable_text.h"
#include "profile/read/reader.h"

namespace jprof::profile {
namespace {

constexpr uint64_t kMostItems = 64;
constexpr uint64_t kMostSlowNanos = uint64_t{1} << 62;
constexpr int64_t kMostSlowTicks = int64_t{1} << 62;
constexpr uint64_t kMostWatchedCalls = uint64_t{1} << 56;

bool IsPossible(const SlowCall& call, size_t threads, size_t items) {
  return call.thread < threads && call.item < items && call.first_event <= call.last_event &&
         call.wall_ns < kMostSlowNanos && call.start_unix_ns < kMostSlowNanos &&
         call.cpu_ticks < kMostSlowTicks && call.cpu_ticks > -kMostSlowTicks &&
         call.off_cpu_ticks < kMostSlowTicks && call.off_cpu_ticks > -kMostSlowTicks;
}

// Returns false if there are more slow calls than calls, or more than any program makes. A call
// that is being counted may be in one of the two numbers.
bool IsPossible(const SlowCounts& counts, size_t items) {
  return counts.item < items && counts.calls < kMostWatchedCalls && counts.slow <= counts.calls &&
         counts.unended <= counts.calls;
}

void Add(const SlowCounts& counts, WatchedItem& to) {
  to.calls += counts.calls;
  to.slow += counts.slow;
  to.unended += counts.unended;
}

}  // namespace

Result<SlowCalls> Reader::ReadSlowCalls(uint64_t memory) const {
  SlowCalls read;
  read.items.resize(std::min(header_.slow_items, kMostItems));
  const ReaderFile file = OpenFile(kSlowCallsFile);
  const uint64_t count = std::min(file.size() / sizeof(SlowCall), header_.slow_records);
  if (count < header_.slow_records)
    damages_.Add("slow_calls: cut off: some are missing",
                 fmt::format("{} of {} exist", count, header_.slow_records));
  uint64_t wrong = 0;
  SlowCall call;
  for (uint64_t i = 0; (i = file.NextData(i * sizeof call) / sizeof call) < count; ++i) {
    if (file.ReadAt(i * sizeof call, &call, sizeof call) != sizeof call) break;
    if (call.kind == SlowKind::kUnused) continue;  // it was being written
    const auto counts = std::bit_cast<SlowCounts>(call);
    if (call.kind == SlowKind::kCall && IsPossible(call, threads_.size(), read.items.size())) {
      read.calls.push_back(call);
    } else if (call.kind == SlowKind::kCounts && IsPossible(counts, read.items.size())) {
      Add(counts, read.items[counts.item]);
    } else {
      ++wrong;
    }
    if (read.calls.size() * sizeof call > memory)
      return NotEnoughMemory(directory_ + "/" + kSlowCallsFile, memory);
  }
  if (wrong != 0)
    damages_.Add("slow_calls: records are not valid: left out", fmt::format("{}", wrong));
  std::ranges::stable_sort(read.calls, std::greater(), &SlowCall::wall_ns);
  return read;
}

std::string SlowText(const Reader& reader) {
  if (reader.header().slow_items == 0) return "";
  const auto read = reader.ReadSlowCalls();
  if (!read) return read.error().message;
  std::string text;
  for (size_t i = 0; i < read->items.size(); ++i) {
    const auto& asked = reader.meta().options.slow;
    const std::string item = i < asked.size() ? CleanText(asked[i]) : "?:?";
    const size_t colon = item.rfind(':');
    text += fmt::format("{}{} of {} calls of {} lasted {} or longer", i == 0 ? "" : "; ",
                        read->items[i].slow, read->items[i].calls, item.substr(0, colon),
                        colon == item.npos ? "?" : item.substr(colon + 1));
  }
  return text;
}

}  // namespace jprof::profile
