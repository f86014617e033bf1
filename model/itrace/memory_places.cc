#include "model/itrace/memory_places.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cpo/allocations/site_names.h"
#include "profile/files/printable_text.h"

namespace jprof::model {
namespace {

namespace fs = std::filesystem;

std::vector<cpo::Log> ReadLogs(const fs::path& directory, std::vector<std::string>& losses) {
  std::vector<cpo::Log> logs;
  for (const fs::path& path : cpo::LogsIn(directory)) {
    const std::string name = profile::CleanText(path.filename().string());
    auto log = cpo::ReadLog(path.string());
    if (!log) {
      std::string_view message = log.error().message;
      if (message.starts_with(path.string())) message.remove_prefix(path.string().size());
      losses.push_back("sites: " + name + profile::CleanText(message));
      continue;
    }
    if (log->damaged != 0)
      losses.push_back(fmt::format("sites: {} has damaged entries: {}", name, log->damaged));
    if (log->cut_off) losses.push_back(fmt::format("sites: {} is cut off", name));
    if (log->lost != 0)
      losses.push_back(fmt::format("sites: {} lacks events, because memory or disk were full: {}",
                                   name, log->lost));
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

// Returns the time on a clock that runs backwards.
uint64_t Backwards(uint64_t time_ns) { return cpo::kForever - 1 - time_ns; }

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
    numbers.push_back(NumberOf(group, profile::CleanText(NameOf(group, names))));
  Process& process = processes_[log.pid];
  for (const cpo::Placement& placement : log.placements) {
    const bool from_beginning = IsFromTheBeginning(log.groups[placement.group]);
    const uint64_t from =
        from_beginning ? std::min(begin_ns, placement.from_ns) : placement.from_ns;
    a2n::Span span = {.start = placement.start,
                      .end = placement.start + placement.size,
                      .since = from,
                      .until = std::min(placement.to_ns, end_ns),
                      .id = numbers[placement.group]};
    process.exact.Add(span);
    span.since = Backwards(from);
    span.until = Backwards(from - std::min(from, kPlaceSlackNanos)) + 1;
    if (!from_beginning) process.coming.Add(span);
    if (placement.to_ns > end_ns || placement.to_ns >= cpo::kForever - kPlaceSlackNanos) continue;
    span.since = placement.to_ns;
    span.until = placement.to_ns + kPlaceSlackNanos;
    process.ended.Add(span);
  }
}

uint32_t MemoryPlaces::NumberOf(const cpo::LoggedGroup& group, std::string name) {
  const auto next = static_cast<uint32_t>(groups_.size());
  const auto [at, is_new] = numbers_.try_emplace({group.kind, group.key}, next);
  if (is_new)
    groups_.push_back({.kind = profile::CleanText(group.kind),
                       .key = profile::CleanText(group.key),
                       .name = std::move(name)});
  return at->second;
}

const a2n::Span* MemoryPlaces::Process::Nearest(uint64_t address, uint64_t time_ns) const {
  const a2n::Span* before = ended.Find(address, time_ns);
  const a2n::Span* behind = coming.Find(address, Backwards(time_ns));
  if (before == nullptr || behind == nullptr) return before != nullptr ? before : behind;
  return time_ns - before->since <= Backwards(behind->since) - time_ns ? before : behind;
}

bool MemoryPlaces::Process::OtherBefore(uint32_t group, uint64_t address, uint64_t time_ns,
                                        uint64_t first) const {
  while (time_ns > first) {
    const a2n::Span* const had = exact.Find(address, time_ns - 1);
    if (had == nullptr) {
      const a2n::Span* const last = ended.Find(address, time_ns - 1);
      return last != nullptr && last->since > first && last->id != group;
    }
    if (had->id != group) return true;
    time_ns = had->since;
  }
  return false;
}

bool MemoryPlaces::Process::OtherBehind(uint32_t group, uint64_t address, uint64_t time_ns,
                                        uint64_t last) const {
  while (time_ns <= last) {
    const a2n::Span* const has = exact.Find(address, time_ns);
    if (has == nullptr) {
      const a2n::Span* const next = coming.Find(address, Backwards(time_ns));
      return next != nullptr && Backwards(next->since) <= last && next->id != group;
    }
    if (has->id != group) return true;
    time_ns = has->until;
  }
  return false;
}

MemoryPlaces::Place MemoryPlaces::Find(uint32_t pid, uint64_t address, uint64_t time_ns) const {
  const auto at = processes_.find(pid);
  if (at == processes_.end()) return {};
  const Process& process = at->second;
  const uint64_t first = time_ns - std::min(time_ns, kPlaceDoubtNanos);
  const uint64_t last = time_ns + kPlaceDoubtNanos;
  const a2n::Span* const found = process.exact.Find(address, time_ns);
  if (found != nullptr && found->since <= first && last < found->until) return {found->id, false};
  const a2n::Span* const nearest = found != nullptr ? found : process.Nearest(address, time_ns);
  const uint32_t group = nearest != nullptr ? nearest->id : 0;
  const uint64_t since = found != nullptr ? found->since : time_ns;
  const uint64_t until = found != nullptr ? found->until : time_ns;
  return {group, process.OtherBefore(group, address, since, first) ||
                     process.OtherBehind(group, address, until, last)};
}

}  // namespace jprof::model
