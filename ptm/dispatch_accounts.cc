#include "ptm/dispatch_accounts.h"

#include <linux/perf_event.h>

#include <algorithm>

namespace jprof::ptm {
namespace {

constexpr uint32_t kDead = ~0u;  // the kernel's id for a thread that is being removed

}  // namespace

EventSpec DispatchEvent() {
  return {
      .name = "dispatches", .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CONTEXT_SWITCHES};
}

void ThreadAccount::Add(const ThreadAccount& other) {
  dispatches += other.dispatches;
  nanos += other.nanos;
  for (size_t i = 0; i < counts.size(); ++i) counts[i] += other.counts[i];
}

void DispatchAccounts::AddThread(uint32_t pid, uint32_t tid, std::string name, bool family) {
  ThreadAccount& account = threads_[AccountOf(pid, tid)];
  account.name = std::move(name);
  account.family = family;
}

size_t DispatchAccounts::AccountOf(uint32_t pid, uint32_t tid) {
  const auto [entry, added] = by_tid_.try_emplace(tid, threads_.size());
  if (added) threads_.push_back({.pid = pid, .tid = tid});
  return entry->second;
}

void DispatchAccounts::SetInterrupts(uint32_t tid, uint64_t interrupts) {
  const auto known = by_tid_.find(tid);
  if (known == by_tid_.end()) return;
  uint64_t& counted = threads_[known->second].interrupts;
  counted = std::max(counted, interrupts);
}

// Counts a new thread. A known live thread was read from /proc before.
void DispatchAccounts::Fork(const SampleRecord& record) {
  const auto known = by_tid_.find(record.tid);
  if (known != by_tid_.end() && threads_[known->second].ended != 0) by_tid_.erase(known);
  const size_t child = AccountOf(record.pid, record.tid);
  const auto parent = by_tid_.find(record.parent_tid);
  if (parent == by_tid_.end()) return;
  threads_[child].family |= threads_[parent->second].family;
  if (threads_[child].name.empty()) threads_[child].name = threads_[parent->second].name;
}

void DispatchAccounts::Add(const SampleRecord& record) {
  if (cpus_.size() <= record.cpu) cpus_.resize(record.cpu + 1);
  Cpu& cpu = cpus_[record.cpu];
  switch (record.kind) {
    case SampleRecord::Kind::kSample:
      return Sample(cpu, record);
    case SampleRecord::Kind::kSwitch:
      cpu.running = AccountOf(record.pid, record.tid);
      cpu.since = record.time - cpu.offset;
      return;
    case SampleRecord::Kind::kFork:
      return Fork(record);
    case SampleRecord::Kind::kComm:
      threads_[AccountOf(record.pid, record.tid)].name = record.text;
      return;
    case SampleRecord::Kind::kExit:
      threads_[AccountOf(record.pid, record.tid)].ended = record.time;
      return;
    case SampleRecord::Kind::kLost:
      cpu.has_lost = true;
      cpu.running = kNoThread;
      return;
    default:
      return;
  }
}

void DispatchAccounts::Sample(Cpu& cpu, const SampleRecord& record) {
  if (cpu.has_reading && cpu.reading.enabled < record.counted.enabled) SettleReading(cpu);
  const size_t account = record.tid != kDead ? AccountOf(record.pid, record.tid) : cpu.running;
  const uint64_t elapsed = record.counted.enabled - cpu.last.enabled;
  Attribute(cpu, record.counted, 1, account);
  cpu.running = kNoThread;
  cpu.has_lost = false;
  // The kernel reads `time` first and `enabled` later. An interruption in between (a hypervisor
  // that takes the CPU away) makes the difference of this sample too small, so the largest one is
  // used. It decreases by the drift between the clocks: an adjusted CLOCK_MONOTONIC drifts by less
  // than 0.1%.
  const uint64_t offset = record.time - record.counted.enabled;
  cpu.offset = std::max(offset, cpu.offset - std::min(cpu.offset, elapsed / 1000));
}

// Attributes the counts since the last sample to `who`, which has left the CPU `left` times (0 or
// 1). Additional dispatches belong to threads that ran unseen before: a single one belongs to the
// idle task; more than one (or those hidden by lost records) belong to no known thread. There may
// also be fewer, because the count of a reading may be newer than its time.
void DispatchAccounts::Attribute(Cpu& cpu, const CountedValues& now, uint64_t left, size_t who) {
  const uint64_t dispatches = std::max(now.values[0] - cpu.last.values[0], left);
  const bool alone = dispatches == left && who != kNoThread && !cpu.has_lost;
  const bool came = !alone && who != kNoThread && cpu.running == who;
  const bool idled = came && dispatches == left + 1 && !cpu.has_lost;
  ThreadAccount& before = idled ? threads_[AccountOf(0, 0)] : lost_;
  ThreadAccount& counted = alone || idled ? threads_[who] : lost_;
  ThreadAccount& last = alone || came ? threads_[who] : lost_;
  const uint64_t since =
      came ? std::clamp(cpu.since, cpu.last.enabled, now.enabled) : cpu.last.enabled;
  before.nanos += since - cpu.last.enabled;
  before.dispatches += dispatches - left;
  last.nanos += now.enabled - since;
  last.dispatches += left;
  for (size_t i = 1; i < now.size; ++i) counted.counts[i - 1] += now.values[i] - cpu.last.values[i];
  cpu.last = now;
}

void DispatchAccounts::AddReading(const SampleRecord& record) {
  if (cpus_.size() <= record.cpu) cpus_.resize(record.cpu + 1);
  cpus_[record.cpu].reading = record.counted;
  cpus_[record.cpu].has_reading = true;
}

void DispatchAccounts::SettleReading(Cpu& cpu) {
  Attribute(cpu, cpu.reading, 0, cpu.running != kNoThread ? cpu.running : AccountOf(0, 0));
  cpu.has_reading = false;
}

void DispatchAccounts::SettleReadings() {
  for (Cpu& cpu : cpus_) {
    if (cpu.has_reading && cpu.reading.enabled > cpu.last.enabled) SettleReading(cpu);
    cpu.has_reading = false;
  }
}

}  // namespace jprof::ptm
