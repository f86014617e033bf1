#include "events/read/statistics.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <sstream>

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
constexpr uint64_t kMostNames = uint64_t{64} << 20;

struct Names {
  uint32_t epoch = 0;
  std::vector<uint32_t> ids;  // of the statistics, in their order
};

Names ReadNames(const std::string& path) {
  constexpr std::string_view kEpoch = "epoch ";
  Names names;
  std::istringstream file(ReadBytes(path, kMostNames));
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

Summary SummaryOf(const jprof_events_statistics& one) {
  Summary summary = {.sum = one.sum, .min = one.min, .max = one.max};
  std::ranges::copy(one.histogram, summary.histogram);
  for (const uint64_t bucket : one.histogram) summary.count += bucket;
  return summary;
}

// Adds the statistics of a thread. Returns why they cannot be read, or nothing.
std::string_view AddThread(const std::string& path, const Names& names, Trace& trace) {
  const std::string bytes = ReadBytes(path, UINT64_MAX);
  ByteCursor cursor(bytes);
  const auto head = cursor.Read<StatisticsHead>();
  if (std::string_view(head.magic, kMagic.size()) != kMagic) return "is not a file of statistics";
  if (head.epoch != names.epoch) return {};
  const Writer writer = {
      .process = head.process,
      .thread = head.thread,
      .name = std::string(head.thread_name, strnlen(head.thread_name, sizeof head.thread_name))};
  for (size_t i = 0; i < std::min<size_t>(names.ids.size(), head.count); ++i) {
    const auto statistics = cursor.Read<jprof_events_statistics>();
    if (!cursor.ok()) return "has fewer statistics than it says";
    const Summary summary = SummaryOf(statistics);
    if (summary.count != 0) Add(summary, trace.statistics[{writer, names.ids[i]}]);
  }
  return {};
}

}  // namespace

void ReadStatistics(Trace& trace) {
  const std::filesystem::path folder = std::filesystem::path(trace.directory) / "statistics";
  std::error_code error;
  if (!std::filesystem::exists(folder, error)) return;  // the kernel writes none
  const Names names = ReadNames(folder / "events");
  if (names.ids.empty())
    Complain(trace.damages,
             (folder / "events").string() + ": is missing or empty: statistics cannot be read");
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (!entry.path().filename().string().starts_with("thread-")) continue;
    const std::string_view why = AddThread(entry.path(), names, trace);
    if (!why.empty()) Complain(trace.damages, fmt::format("{}: {}", entry.path().string(), why));
  }
}

}  // namespace jprof::events
