#include "jprof/unwind/unwinder.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "jprof/unwind/modules.h"
#include "jprof/unwind/pc_table.h"
#include "jprof/unwind/unwind_table.h"

namespace jprof::unwind {
namespace {

constexpr uint64_t kCodeEnd = uint64_t{1} << 47;

// Represents one executable segment of a module. `table` and `path` are valid as long as a snapshot
// has them.
struct Mapped {
  CodeRange code;
  uint64_t bias, low;  // rows are distances from low
  const UnwindTable* table;
  const std::string* path;

  bool operator==(const Mapped&) const = default;
};

// A snapshot is sorted by address, and never changed once it is published.
using Snapshot = std::vector<Mapped>;

const Mapped* FindMapped(const Snapshot& snapshot, uint64_t pc) {
  const auto after =
      std::upper_bound(snapshot.begin(), snapshot.end(), pc,
                       [](uint64_t at, const Mapped& mapped) { return at < mapped.code.low; });
  if (after == snapshot.begin() || pc >= (after - 1)->code.high) return nullptr;
  return &*(after - 1);
}

}  // namespace

struct Unwinder::State {
  // Identifies a module's file: a mapping with the same path and index uses the same table, also
  // after it was unmapped.
  using ModuleKey = std::pair<std::string, size_t>;
  using Tables = std::map<ModuleKey, UnwindTable>;
  // This many tables of unmapped modules are kept in case they are mapped again.
  static constexpr size_t kMostUnmapped = 8;
  // Contains replaced objects, which are kept until no reader uses them.
  struct Garbage {
    std::vector<std::unique_ptr<const Snapshot>> snapshots;
    std::vector<Tables::node_type> tables;
  };
  // Contains the rule for an address, which is valid while the modules are those of `generation`.
  struct Entry {
    FrameRule rule;
    uint64_t function, generation;
  };

  std::atomic<const Snapshot*> current;
  std::atomic<uint64_t> generation = 0;
  std::atomic<bool> stale = false;
  PcTable<Entry, 12> entries;
  // Readers are counted in the era in which they begin. A new era begins when all readers of the
  // one before the last have finished: then no reader uses what was replaced in that era.
  std::atomic<uint32_t> era = 0;
  std::atomic<uint32_t> readers[2] = {};
  // Only Refresh uses this.
  ModuleCounts counts;
  Tables tables;
  std::unique_ptr<const Snapshot> newest;
  Garbage garbage[2];  // by era

  State() { Publish({}); }
  void Publish(Snapshot snapshot);
  void Add(const Module& module, Snapshot& snapshot);
  void DropUnmapped();
  void FreeGarbage();
  uint32_t EnterEra();
  bool EntryAt(uint64_t pc, Entry* entry);
};

void Unwinder::State::Publish(Snapshot snapshot) {
  if (newest != nullptr && snapshot == *newest) return;
  auto old = std::exchange(newest, std::make_unique<const Snapshot>(std::move(snapshot)));
  current.store(newest.get());
  ++generation;
  if (old != nullptr) garbage[era % 2].snapshots.push_back(std::move(old));
  DropUnmapped();
}

void Unwinder::State::Add(const Module& module, Snapshot& snapshot) {
  const std::string_view index(reinterpret_cast<const char*>(module.index.data()),
                               module.index.size());
  const auto [known, is_new] =
      tables.try_emplace({module.path, std::hash<std::string_view>()(index)});
  if (is_new) known->second = UnwindTable(module.eh_frame, module.span, kThisMachine);
  for (const CodeRange& code : module.code) {
    snapshot.push_back({code, module.bias, module.span.low, &known->second, &known->first.first});
  }
}

void Unwinder::State::DropUnmapped() {
  std::set<const UnwindTable*> mapped;
  for (const Mapped& each : *newest) mapped.insert(each.table);
  if (tables.size() <= mapped.size() + kMostUnmapped) return;
  for (auto at = tables.begin(); at != tables.end();) {
    const auto table = at++;
    if (!mapped.contains(&table->second)) garbage[era % 2].tables.push_back(tables.extract(table));
  }
}

void Unwinder::State::FreeGarbage() {
  const uint32_t next = (era + 1) % 2;  // the previous era used the same index
  if (readers[next] != 0) return;
  garbage[next] = {};
  ++era;
}

uint32_t Unwinder::State::EnterEra() {
  for (;;) {
    const uint32_t now = era;
    ++readers[now % 2];
    if (era == now) return now;
    --readers[now % 2];
  }
}

bool Unwinder::State::EntryAt(uint64_t pc, Entry* entry) {
  const uint64_t now = generation;  // read first: the result is at least as new
  if (entries.Read(pc, [&](const Entry& known) { return (*entry = known).generation == now; })) {
    return true;
  }
  const Reading reading(*this);
  const Mapped* mapped = FindMapped(*current.load(), pc);
  if (mapped == nullptr) return false;
  const UnwindTable::Row* row = mapped->table->Find(pc - mapped->low);
  *entry = {{}, 0, now};
  if (row != nullptr) {
    entry->rule = mapped->table->RuleOf(*row);
    const UnwindTable::Row* first = mapped->table->FunctionOf(row);
    if (first != nullptr) entry->function = mapped->low + first->pc;
  }
  entries.Add(pc, *entry);
  return true;
}

Unwinder::Reading::Reading(State& state) : state_(state), era_(state.EnterEra()) {}
Unwinder::Reading::~Reading() { --state_.readers[era_ % 2]; }

Unwinder::Unwinder() : state_(new State) {}
Unwinder::~Unwinder() { delete state_; }

Result<void> Unwinder::Refresh() {
  state_->FreeGarbage();
  state_->stale.store(false, std::memory_order_relaxed);
  Snapshot snapshot;
  if (ForEachModule(state_->counts, [&](const Module& module) { state_->Add(module, snapshot); })) {
    std::ranges::sort(snapshot, {}, [](const Mapped& mapped) { return mapped.code.low; });
    state_->Publish(std::move(snapshot));
  }
  const Snapshot& now = *state_->newest;
  if (std::ranges::none_of(now,
                           [](const Mapped& mapped) { return mapped.table->rows().size() > 1; })) {
    return Fail(
        "no mapped module has unwind tables (.eh_frame with its index): native stacks end at once; "
        "link with --eh-frame-hdr");
  }
  return {};
}

bool Unwinder::Stale() const { return state_->stale.load(std::memory_order_relaxed); }
uint64_t Unwinder::Generation() const { return state_->generation; }

uint64_t Unwinder::TableBytes() const {
  const auto size = [](const auto& snapshot) { return snapshot->capacity() * sizeof(Mapped); };
  uint64_t bytes = size(state_->newest);
  for (const auto& [key, table] : state_->tables) bytes += table.Bytes();
  for (const State::Garbage& old : state_->garbage) {
    for (const auto& snapshot : old.snapshots) bytes += size(snapshot);
    for (const auto& table : old.tables) bytes += table.mapped().Bytes();
  }
  return bytes;
}

Unwinder::Step Unwinder::Next(Registers& registers, const StackBounds& stack, bool interrupted,
                              uint64_t* function, ReadLog* log) const {
  // A call may be the last instruction of its function: its return address then belongs to the next
  // one.
  const uint64_t pc = registers.pc - (interrupted || registers.interrupted ? 0 : 1);
  State::Entry entry = {};
  const bool known = state_->EntryAt(pc, &entry);
  if (function != nullptr) *function = entry.function;
  if (!known && pc < kCodeEnd) state_->stale.store(true, std::memory_order_relaxed);
  return known ? entry.rule.Apply(registers, stack, log) : Step::kUnknown;
}

bool Unwinder::FunctionAt(uint64_t pc, Function* function) const {
  *function = {};
  const Reading reading(*this);
  const Mapped* mapped = FindMapped(*state_->current.load(), pc);
  if (mapped == nullptr) return false;
  function->module = *mapped->path;
  const UnwindTable::Row* row = mapped->table->Find(pc - mapped->low);
  const UnwindTable::Row* first = row == nullptr ? nullptr : mapped->table->FunctionOf(row);
  if (first == nullptr) return false;
  function->start = mapped->low + first->pc;
  function->link_address = function->start - mapped->bias;
  return true;
}

}  // namespace jprof::unwind
