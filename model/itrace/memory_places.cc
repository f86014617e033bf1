#include "model/itrace/memory_places.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cpo/allocations/site_names.h"
#include "profile/files/printable_text.h"

namespace jprof::model {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLogPrefix = "pages.";

std::vector<fs::path> LogsIn(const fs::path& directory) {
  std::vector<fs::path> logs;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(directory, ignored)) {
    if (entry.path().filename().string().starts_with(kLogPrefix)) logs.push_back(entry.path());
  }
  std::ranges::sort(logs);
  return logs;
}

std::vector<cpo::Log> ReadLogs(const fs::path& directory, std::vector<std::string>& losses) {
  std::vector<cpo::Log> logs;
  for (const fs::path& path : LogsIn(directory)) {
    const std::string name = profile::CleanText(path.filename().string());
    auto log = cpo::ReadLog(path.string());
    if (!log) {
      std::string_view message = log.error().message;
      if (message.starts_with(path.string())) message.remove_prefix(path.string().size());
      losses.push_back("sites: " + name + profile::CleanText(message));
      continue;
    }
    if (log->damaged != 0)
      losses.push_back(fmt::format("sites: {} has {} damaged entries", name, log->damaged));
    if (log->lost != 0)
      losses.push_back(
          fmt::format("sites: {} lacks {} events: memory or disk were full", name, log->lost));
    logs.push_back(*std::move(log));
  }
  return logs;
}

// Returns what people call the group.
std::string NameOf(const cpo::LoggedGroup& group, cpo::SiteNames& names) {
  if (group.kind == "site") return names.ChainOf(group);
  if (group.kind == "static") return "static data of " + group.key;
  if (group.kind == "heap") return "malloc's heap: smaller blocks";
  if (group.kind == "stack")
    return group.key == "main" ? "stack of the main thread" : "stacks of threads";
  return group.kind + " of " + group.key;
}

// Returns whether memory of the group was there when the process began. The library logs it when it
// finds it.
bool IsFromTheBeginning(const cpo::LoggedGroup& group) {
  return group.kind == "static" || (group.kind == "stack" && group.key == "main");
}

}  // namespace

MemoryPlaces::MemoryPlaces(const fs::path& directory, std::vector<std::string>& losses)
    : MemoryPlaces(ReadLogs(directory, losses)) {}

MemoryPlaces::MemoryPlaces(std::vector<cpo::Log> logs) {
  std::ranges::stable_sort(logs, {}, &cpo::Log::began_ns);
  std::map<uint32_t, uint64_t> began;  // by pid: when the program of the last log began, or later
  for (auto log = logs.begin(); log != logs.end(); ++log) {
    const auto next = std::find_if(log + 1, logs.end(),
                                   [&](const cpo::Log& other) { return other.pid == log->pid; });
    uint64_t& begin_ns = began[log->pid];
    Add(*log, begin_ns, next == logs.end() ? cpo::kForever : next->began_ns);
    begin_ns = log->last_ns;
  }
}

void MemoryPlaces::Add(const cpo::Log& log, uint64_t begin_ns, uint64_t end_ns) {
  cpo::SiteNames names(log);
  std::vector<uint32_t> numbers;
  for (const cpo::LoggedGroup& group : log.groups)
    numbers.push_back(NumberOf(group, NameOf(group, names)));
  Process& process = processes_[log.pid];
  for (const cpo::Placement& placement : log.placements) {
    const uint64_t until = std::min(placement.to_ns, end_ns);
    a2n::Span span = {.start = placement.start,
                      .end = placement.start + placement.size,
                      .since = placement.from_ns,
                      .until = until,
                      .id = numbers[placement.group]};
    process.exact.Add(span);
    const bool from_beginning = IsFromTheBeginning(log.groups[placement.group]);
    span.since = from_beginning ? begin_ns : span.since - std::min(span.since, kPlaceSlackNanos);
    if (until < cpo::kForever - kPlaceSlackNanos) span.until += kPlaceSlackNanos;
    process.around.Add(span);
  }
}

uint32_t MemoryPlaces::NumberOf(const cpo::LoggedGroup& group, std::string name) {
  const auto next = static_cast<uint32_t>(groups_.size());
  const auto [at, is_new] = numbers_.try_emplace({group.kind, group.key}, next);
  if (is_new) groups_.push_back({.kind = group.kind, .key = group.key, .name = std::move(name)});
  return at->second;
}

uint32_t MemoryPlaces::At(uint32_t pid, uint64_t address, uint64_t time_ns) const {
  const auto process = processes_.find(pid);
  if (process == processes_.end()) return 0;
  const a2n::Span* found = process->second.exact.Find(address, time_ns);
  if (found == nullptr) found = process->second.around.Find(address, time_ns);
  return found != nullptr ? found->id : 0;
}

bool HasMemoryPlaces(const fs::path& directory) { return !LogsIn(directory).empty(); }

}  // namespace jprof::model
