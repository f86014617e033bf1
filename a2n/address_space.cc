#include "a2n/address_space.h"

#include <algorithm>

namespace jprof::a2n {
namespace {

// A lookup follows back at most this number of forks without an exec; beyond it the child copies
// the mappings.
constexpr uint32_t kMostForks = 16;

}  // namespace

AddressSpaces::Process& AddressSpaces::ProcessOf(Pid pid) {
  Process& process = processes_[pid];
  if (process.lives.empty()) process.lives.emplace_back();
  return process;
}

const AddressSpaces::Process* AddressSpaces::Known(Pid pid) const {
  if (last_ != nullptr && last_pid_ == pid) return last_;
  const auto found = processes_.find(pid);
  if (found == processes_.end()) return nullptr;
  last_pid_ = pid;
  return last_ = &found->second;  // map nodes do not move, and none is ever removed
}

const AddressSpaces::Life* AddressSpaces::LifeAt(const Process& process, Nanos when) {
  const auto after = std::ranges::upper_bound(process.lives, when, {}, &Life::since);
  if (after == process.lives.begin()) return nullptr;
  const Life& life = *std::prev(after);
  return when < life.until || life.until == kForever ? &life : nullptr;
}

// Copies what the parent had at that time, with inherited mappings. Mappings that later ones hide
// stay hidden.
void AddressSpaces::CopyInto(Life& life, const Process& parent, Nanos when) const {
  std::vector<const Life*> line;
  const Process* process = &parent;
  for (Nanos time = when; process != nullptr;) {
    const Life* one = LifeAt(*process, time);
    if (one == nullptr) break;
    line.push_back(one);
    if (!one->forked) break;
    time = std::min(time, one->since);
    process = Known(one->parent);
  }
  for (auto one = line.rbegin(); one != line.rend(); ++one) {
    const Nanos end = one + 1 == line.rend() ? when : (*(one + 1))->since;
    for (Span span : (*one)->mappings.spans()) {
      if (span.since > end) continue;
      life.mappings.Add(span);
    }
  }
}

// Begins a life, and ends the previous one if necessary. Lives stay in order even if the given
// times are not.
void AddressSpaces::BeginLife(Process& process, Life life) {
  if (!process.lives.empty()) {
    Life& before = process.lives.back();
    life.since = std::max(life.since, before.since);
    before.until = std::min(before.until, life.since);
  }
  process.lives.push_back(std::move(life));
}

void AddressSpaces::Fork(Pid parent, Pid child, Nanos when) {
  if (parent == child) return;
  ProcessOf(parent);
  Life life{.since = when, .parent = parent, .forked = true};
  if (const Life* from = LifeAt(*Known(parent), when)) life.depth = from->depth + 1;
  if (life.depth > kMostForks) {
    CopyInto(life, *Known(parent), when);
    life.depth = 0;
    life.forked = false;
  }
  BeginLife(processes_[child], std::move(life));
}

void AddressSpaces::Exec(Pid pid, Nanos when) {
  Process& process = ProcessOf(pid);
  BeginLife(process, {.since = when});
}

void AddressSpaces::Exit(Pid pid, Nanos when) {
  Life& life = ProcessOf(pid).lives.back();
  life.until = std::min(life.until, when);
}

void AddressSpaces::Map(Pid pid, Nanos when, uint64_t start, uint64_t end, uint32_t id) {
  Process& process = ProcessOf(pid);
  if (process.lives.back().until <= when && when != kForever)
    BeginLife(process, {.since = when});  // a reused pid
  process.lives.back().mappings.Add({start, end, when, kForever, id});
}

void AddressSpaces::Jitted(Pid pid, const JittedCode& code, uint32_t id) {
  Process& process = ProcessOf(pid);
  const Nanos loaded = code.loaded == kAlways ? process.lives.back().since : code.loaded;
  if (code.length == 0 || code.length > ~uint64_t{0} - code.start || loaded >= code.unloaded)
    return;
  process.code.Add({code.start, code.start + code.length, loaded, code.unloaded, id});
  process.lowest = std::min(process.lowest, code.start);
  process.highest = std::max(process.highest, code.start + code.length);
  process.first_loaded = std::min(process.first_loaded, loaded);
  process.last_loaded = std::max(process.last_loaded, loaded);
}

AddressSpaces::Found AddressSpaces::Find(Pid pid, uint64_t address, Nanos when) const {
  Found found;
  const Process* process = Known(pid);
  while (process != nullptr) {
    const Life* life = LifeAt(*process, when);
    if (life == nullptr) break;
    if (found.mapping == nullptr) found.mapping = life->mappings.Find(address, when);
    if (found.code == nullptr && !process->code.empty()) {
      const Span* code = process->code.Find(address, when);
      if (code != nullptr && code->since >= life->since) found.code = code;
      found.near_code |= process->lowest <= address && address < process->highest &&
                         process->last_loaded >= life->since && process->first_loaded < life->until;
    }
    if (!life->forked || (found.mapping != nullptr && found.code != nullptr)) break;
    when = std::min(when, life->since);
    const auto parent = processes_.find(life->parent);
    process = parent == processes_.end() ? nullptr : &parent->second;
  }
  return found;
}

}  // namespace jprof::a2n
