#include "jprof/unwind/unwinder.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "jprof/unwind/modules.h"
#include "jprof/unwind/unwind_table.h"

namespace jprof::unwind {
namespace {

constexpr uint64_t kCodeEnd = uint64_t{1} << 47;

// One executable segment of a module. `table` and `path` live as long as the Unwinder.
struct Mapped {
  CodeRange code;
  uint64_t bias, low;  // rows are distances from low
  const UnwindTable* table;
  const std::string* path;

  bool operator==(const Mapped&) const = default;
};

// Sorted by address. Never changed once it is published.
using Snapshot = std::vector<Mapped>;

const Mapped* FindMapped(const Snapshot& snapshot, uint64_t pc) {
  const auto after =
      std::upper_bound(snapshot.begin(), snapshot.end(), pc,
                       [](uint64_t pc, const Mapped& mapped) { return pc < mapped.code.low; });
  if (after == snapshot.begin() || pc >= (after - 1)->code.high) return nullptr;
  return &*(after - 1);
}

}  // namespace

struct Unwinder::State {
  // A module as a file: what is mapped, or mapped again, with the same path and index has the same
  // table.
  using ModuleKey = std::pair<std::string, size_t>;

  std::atomic<const Snapshot*> current;
  std::atomic<bool> stale = false;
  // Refresh's own.
  ModuleCounts counts;
  std::map<ModuleKey, UnwindTable> tables;
  std::vector<std::unique_ptr<const Snapshot>> snapshots;

  State() { Publish({}); }
  void Publish(Snapshot snapshot);
  void Add(const Module& module, Snapshot& snapshot);
};

void Unwinder::State::Publish(Snapshot snapshot) {
  if (!snapshots.empty() && snapshot == *snapshots.back()) return;
  snapshots.push_back(std::make_unique<const Snapshot>(std::move(snapshot)));
  current.store(snapshots.back().get(), std::memory_order_release);
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

Unwinder::Unwinder() : state_(new State) {}
Unwinder::~Unwinder() { delete state_; }

Result<void> Unwinder::Refresh() {
  state_->stale.store(false, std::memory_order_relaxed);
  Snapshot snapshot;
  if (ForEachModule(state_->counts, [&](const Module& module) { state_->Add(module, snapshot); })) {
    std::ranges::sort(snapshot, {}, [](const Mapped& mapped) { return mapped.code.low; });
    state_->Publish(std::move(snapshot));
  }
  const Snapshot& now = *state_->snapshots.back();
  if (std::ranges::none_of(now,
                           [](const Mapped& mapped) { return mapped.table->rows().size() > 1; })) {
    return Fail(
        "no mapped module has unwind tables (.eh_frame with its index): native stacks end at once; "
        "link with --eh-frame-hdr");
  }
  return {};
}

bool Unwinder::Stale() const { return state_->stale.load(std::memory_order_relaxed); }

uint64_t Unwinder::TableBytes() const {
  uint64_t bytes = 0;
  for (const auto& [key, table] : state_->tables) bytes += table.Bytes();
  for (const auto& snapshot : state_->snapshots) bytes += snapshot->capacity() * sizeof(Mapped);
  return bytes;
}

Unwinder::Step Unwinder::Next(Registers& registers, const StackBounds& stack,
                              bool interrupted) const {
  // A call may be its function's last instruction: its return address is the next function's.
  const uint64_t pc = registers.pc - (interrupted || registers.interrupted ? 0 : 1);
  const Mapped* mapped = FindMapped(*state_->current.load(std::memory_order_acquire), pc);
  if (mapped == nullptr) {
    if (pc < kCodeEnd) state_->stale.store(true, std::memory_order_relaxed);
    return Step::kUnknown;
  }
  const UnwindTable::Row* row = mapped->table->Find(pc - mapped->low);
  return row == nullptr ? Step::kUnknown : mapped->table->RuleOf(*row).Apply(registers, stack);
}

bool Unwinder::FunctionAt(uint64_t pc, Function* function) const {
  *function = {};
  const Mapped* mapped = FindMapped(*state_->current.load(std::memory_order_acquire), pc);
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
