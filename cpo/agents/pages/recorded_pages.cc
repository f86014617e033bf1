#include "cpo/agents/pages/recorded_pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>
#include <utility>

#include "profile/files/whole_file.h"
#include "profile/log/memory_log.h"

namespace jprof::cpo {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLogPrefix = "pages.";

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

// Returns the number at the end of "pages.PID" or "pages.PID.N", 0 if there is none.
uint32_t ProgramNumber(const fs::path& path) {
  const std::string name = path.filename().string();
  const size_t dot = name.find('.', kLogPrefix.size());
  uint32_t number = 0;
  if (dot != name.npos) std::from_chars(name.data() + dot + 1, name.data() + name.size(), number);
  return number;
}

}  // namespace

std::vector<Log> ReadLogs(const fs::path& folder) {
  std::vector<std::pair<uint32_t, Log>> numbered;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (!entry.path().filename().string().starts_with(kLogPrefix)) continue;
    if (auto log = ReadLog(entry.path().string()))
      numbered.emplace_back(ProgramNumber(entry.path()), *std::move(log));
  }
  std::ranges::sort(numbered, {},
                    [](const auto& one) { return std::pair(one.second.pid, one.first); });
  std::vector<Log> logs;
  for (auto& [number, log] : numbered) logs.push_back(std::move(log));
  return logs;
}

const Log* LastLogOf(const std::vector<Log>& logs, uint32_t pid) {
  const Log* last = nullptr;
  for (const Log& log : logs) {
    if (log.pid == pid) last = &log;
  }
  return last;
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

std::vector<Placement> PlacementsOf(const Log& log) {
  std::vector<Placement> placements;
  for (const LoggedPlacement& one : log.placements)
    placements.push_back({one.start, one.size, one.from_ns, one.to_ns, one.group});
  return placements;
}

std::vector<uint64_t> AdvisedPagesOf(const Log& log) {
  struct Change {
    uint64_t time_ns;
    int64_t pages;
    uint32_t group;
  };
  std::vector<Change> changes;
  for (const LoggedPlacement& one : log.placements) {
    const auto pages = static_cast<int64_t>((one.size + kLargePage - 1) / kLargePage);
    changes.push_back({one.from_ns, pages, one.group});
    if (one.to_ns != kStillThere) changes.push_back({one.to_ns, -pages, one.group});
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

Result<void> WriteFaults(const fs::path& path, const std::vector<Reference>& faults) {
  std::string text;
  for (const Reference& fault : faults)
    fmt::format_to(std::back_inserter(text), "{:x} {}\n", fault.address, fault.time_ns);
  return profile::WriteWholeFile(path.string(), text);
}

Result<std::vector<Reference>> ReadFaults(const fs::path& path) {
  std::ifstream file(path);
  if (!file) return Fail("cannot read {}", path.string());
  std::vector<Reference> faults;
  Reference fault;
  while (file >> std::hex >> fault.address >> std::dec >> fault.time_ns) faults.push_back(fault);
  return faults;
}

}  // namespace jprof::cpo
