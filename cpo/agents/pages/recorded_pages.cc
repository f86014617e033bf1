#include "cpo/agents/pages/recorded_pages.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <utility>

#include "profile/log/memory_log.h"

namespace jprof::cpo {
namespace {

namespace fs = std::filesystem;

// What a directive changes about the memory of a kind.
struct KindOfMemory {
  std::string_view kind;
  bool moves = false;  // each placement is moved to a boundary of a large page
  uint64_t least_tail = kLargePage;
};
constexpr KindOfMemory kKinds[] = {{"site", true, 1}, {"static"},     {"heap"},       {"stack"},
                                   {"java-heap"},     {"code-cache"}, {"class-space"}};

// One burst at a time is in memory.
class BurstsOfLogs final : public ReferenceStream {
 public:
  explicit BurstsOfLogs(std::vector<fs::path> logs) : logs_(std::move(logs)) {}

  bool NextBurst() override {
    next_ = 0;
    if (!bursts_.empty()) bursts_.erase(bursts_.begin());
    while (bursts_.empty() && log_ < logs_.size()) Load(logs_[log_++]);
    return !bursts_.empty();
  }
  bool Next(Reference& reference) override {
    if (bursts_.empty() || next_ == bursts_.front().size()) return false;
    reference = bursts_.front()[next_++];
    return true;
  }

 private:
  // A burst of each thread.
  void Load(const fs::path& path) {
    const auto log = profile::MemoryLog::Read(path.string());
    if (!log) return;
    std::map<uint64_t, std::vector<Reference>> threads;
    log->ForEach([&](const profile::MemoryReference& one) {
      auto& burst = threads[profile::ThreadKey(one.pid, one.tid)];
      if (one.begins && !burst.empty()) bursts_.push_back(std::exchange(burst, {}));
      // A string instruction refers to each page of its range.
      for (uint64_t at = one.address; at - one.address < std::max<uint64_t>(one.bytes, 1);
           at = (at | (kSmallPage - 1)) + 1) {
        burst.push_back({.address = at,
                         .time_ns = one.time_ns,
                         .write = one.access != profile::MemoryAccess::kLoad});
      }
    });
    for (auto& [thread, burst] : threads) bursts_.push_back(std::move(burst));
  }

  const std::vector<fs::path> logs_;
  size_t log_ = 0;  // the next one
  std::vector<std::vector<Reference>> bursts_;
  size_t next_ = 0;  // in the first one
};

}  // namespace

std::vector<Log> ReadLogs(const fs::path& folder) {
  std::vector<Log> logs;
  for (const fs::path& path : LogsIn(folder)) {
    if (auto log = ReadLog(path.string())) logs.push_back(*std::move(log));
  }
  std::ranges::sort(logs, {}, &Log::began_ns);
  return logs;
}

const Log* LastLogOf(const std::vector<Log>& logs, uint32_t pid) {
  const auto last = std::ranges::find(logs | std::views::reverse, pid, &Log::pid);
  return last == logs.rend() ? nullptr : &*last;
}

std::vector<Group> GroupsOf(const Log& log) {
  std::vector<Group> groups;
  for (const LoggedGroup& logged : log.groups) {
    const auto* const kind = std::ranges::find(kKinds, logged.kind, &KindOfMemory::kind);
    const bool main_stack = logged.kind == "stack" && logged.key == "main";
    Group group = {.key = logged.kind + " " + logged.key};
    group.eligible = kind != std::end(kKinds) && !main_stack;
    if (group.eligible) {
      group.moves = kind->moves;
      group.least_tail = kind->least_tail;
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

std::vector<uint64_t> AdvisedPagesOf(const Log& log) {
  struct Change {
    uint64_t time_ns;
    int64_t pages;
    uint32_t group;
  };
  std::vector<Change> changes;
  for (const Placement& one : log.placements) {
    const auto pages = static_cast<int64_t>((one.size + kLargePage - 1) / kLargePage);
    changes.push_back({one.from_ns, pages, one.group});
    if (one.to_ns != kForever) changes.push_back({one.to_ns, -pages, one.group});
  }
  // What ends at a time ends before what begins then.
  std::ranges::sort(changes, {},
                    [](const Change& one) { return std::pair(one.time_ns, one.pages); });
  std::vector<int64_t> now(log.groups.size()), most(log.groups.size());
  for (const Change& change : changes) {
    now[change.group] += change.pages;
    most[change.group] = std::max(most[change.group], now[change.group]);
  }
  return {most.begin(), most.end()};
}

std::unique_ptr<ReferenceStream> ReadBursts(const std::vector<fs::path>& logs) {
  return std::make_unique<BurstsOfLogs>(logs);
}

}  // namespace jprof::cpo
