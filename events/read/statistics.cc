#include "events/read/statistics.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>

#include "common/bytes.h"
#include "events/read/file_bytes.h"
#include "events/runtime/jprof-events.h"

namespace jprof::events {
namespace {

struct StatisticsHead {
  char magic[8];
  uint32_t process, thread;
  uint32_t epoch;  // statistics of older epochs were reset
  uint32_t count;
  char thread_name[16];
  uint64_t reserved[3];
};
static_assert(sizeof(StatisticsHead) == 64 && sizeof(jprof_events_statistics) == 544);

constexpr std::string_view kMagic = "JPEVSTA1";

struct Names {
  uint32_t epoch = 0;
  std::vector<uint32_t> ids;  // of the statistics, in their order
};

Names ReadNames(const std::filesystem::path& path) {
  constexpr std::string_view kEpoch = "epoch ";
  Names names;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const char* end = line.data() + line.size();
    if (line.starts_with(kEpoch)) {
      std::from_chars(line.data() + kEpoch.size(), end, names.epoch);
    } else {
      std::from_chars(line.data(), end, names.ids.emplace_back(), 16);
    }
  }
  return names;
}

struct OfThread {
  uint32_t epoch = 0;
  std::vector<jprof_events_statistics> statistics;
};

bool ReadThread(const std::filesystem::path& path, OfThread& thread) {
  const std::string bytes = ReadBytes(path, UINT64_MAX);
  ByteCursor cursor(bytes);
  const auto head = cursor.Read<StatisticsHead>();
  if (std::string_view(head.magic, kMagic.size()) != kMagic) return false;
  if (head.count > cursor.left() / sizeof(jprof_events_statistics)) return false;
  thread.epoch = head.epoch;
  for (uint32_t i = 0; i < head.count; ++i)
    thread.statistics.push_back(cursor.Read<jprof_events_statistics>());
  return true;
}

void Add(const jprof_events_statistics& one, Summary& sum) {
  uint64_t count = 0;
  for (size_t i = 0; i < std::size(sum.histogram); ++i) {
    sum.histogram[i] += one.histogram[i];
    count += one.histogram[i];
  }
  if (count == 0) return;
  sum.min = sum.count == 0 ? one.min : std::min(sum.min, one.min);
  sum.max = sum.count == 0 ? one.max : std::max(sum.max, one.max);
  sum.count += count;
  sum.sum = static_cast<int64_t>(static_cast<uint64_t>(sum.sum) + static_cast<uint64_t>(one.sum));
}

}  // namespace

void ReadStatistics(Trace& trace) {
  const std::filesystem::path folder = std::filesystem::path(trace.directory) / "statistics";
  const Names names = ReadNames(folder / "events");
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (!entry.path().filename().string().starts_with("thread-")) continue;
    OfThread thread;
    if (!ReadThread(entry.path(), thread)) {
      Complain(trace.damages, entry.path(), "is not a file of statistics");
    } else if (thread.epoch == names.epoch) {
      for (size_t i = 0; i < std::min(names.ids.size(), thread.statistics.size()); ++i)
        Add(thread.statistics[i], trace.statistics[names.ids[i]]);
    }
  }
  std::erase_if(trace.statistics, [](const auto& one) { return one.second.count == 0; });
}

}  // namespace jprof::events
