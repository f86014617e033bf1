#include "model/locks/lock_table.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <tuple>
#include <utility>

#include "model/locks/lock_cycles.h"
#include "profile/files/lock_edge.h"
#include "profile/files/lock_metrics.h"

namespace jprof::model {
namespace {

using profile::CallTree;
using profile::MethodId;

// Sums the records of a call tree.
class TableBuilder {
 public:
  TableBuilder(const CallTree& tree, const profile::Meta& meta, LockTable& table)
      : tree_(tree),
        meta_(meta),
        table_(table),
        context_of_(tree.size(), kNoContext),
        path_of_(tree.size(), profile::kNoRecord) {}

  void AddRecords();
  void AddWaits();
  void AddCycles();

 private:
  bool IsLock(uint32_t record) const {
    const MethodId method = profile::MethodOf(tree_.ref[record]);
    return (table_.names.Parts(method).flags & profile::kMethodClass) != 0;
  }
  size_t ContextOf(uint32_t record);
  // Returns the number of the path that a record and its callers are.
  uint32_t PathOf(uint32_t record);
  uint32_t Below(uint32_t path, MethodId method);
  size_t LockOf(MethodId type);
  size_t FamilyOf(MethodId type);
  size_t ContextAt(uint32_t record) const {
    return record < context_of_.size() ? context_of_[record] : kNoContext;
  }
  // Returns the value of a metric in a record; 0 if the profile does not have it.
  uint64_t ValueOf(std::string_view metric, uint32_t record) const;
  LockCounts CountsOf(uint32_t record) const;

  const CallTree& tree_;
  const profile::Meta& meta_;
  LockTable& table_;
  std::vector<size_t> context_of_;  // by record
  std::vector<uint32_t> path_of_;   // by record; kNoRecord if it is not known yet
  std::map<std::pair<uint32_t, MethodId>, uint32_t> paths_;
  std::map<std::pair<size_t, uint32_t>, size_t> contexts_;  // by lock and path
  std::map<MethodId, size_t> locks_;
  std::map<std::string, size_t> families_;
};

size_t TableBuilder::LockOf(MethodId type) {
  const auto [known, added] = locks_.try_emplace(type, table_.locks.size());
  if (added)
    table_.locks.push_back({.type = type, .kind = LockKindOf(table_.names.Parts(type).signature)});
  return known->second;
}

uint32_t TableBuilder::Below(uint32_t path, MethodId method) {
  const auto number = static_cast<uint32_t>(table_.paths.size());
  const auto [known, added] = paths_.try_emplace({path, method}, number);
  if (added) table_.paths.push_back({path, method});
  return known->second;
}

uint32_t TableBuilder::PathOf(uint32_t record) {
  std::vector<uint32_t> unknown;
  uint32_t at = record;
  for (; at != profile::kNoRecord && path_of_[at] == profile::kNoRecord; at = tree_.parent[at])
    unknown.push_back(at);
  uint32_t path = at != profile::kNoRecord ? path_of_[at] : 0;
  for (const uint32_t below : unknown | std::views::reverse) {
    const MethodId method = profile::MethodOf(tree_.ref[below]);
    if (method != profile::kRootMethod) path = Below(path, table_.names.Canonical(method));
    path_of_[below] = path;
  }
  return path;
}

size_t TableBuilder::ContextOf(uint32_t record) {
  const uint32_t parent = tree_.parent[record];
  const uint32_t path = parent != profile::kNoRecord ? PathOf(parent) : 0;
  const size_t lock = LockOf(table_.names.Canonical(profile::MethodOf(tree_.ref[record])));
  const auto [known, added] = contexts_.try_emplace({lock, path}, table_.contexts.size());
  if (added) {
    table_.contexts.push_back(
        {.lock = lock, .family = FamilyOf(table_.locks[lock].type), .path = path});
    table_.locks[lock].contexts.push_back(known->second);
  }
  return known->second;
}

size_t TableBuilder::FamilyOf(MethodId type) {
  const profile::MethodName parts = table_.names.Parts(type);
  std::string family(parts.class_name);
  for (const std::string_view suffix : {"$ReadLock", "$WriteLock"})
    if (parts.class_name.ends_with(suffix)) family.resize(family.size() - suffix.size());
  return families_.try_emplace(std::move(family), families_.size()).first->second;
}

uint64_t TableBuilder::ValueOf(std::string_view metric, uint32_t record) const {
  const auto found = std::ranges::find(meta_.metrics, metric, &profile::Metric::name);
  if (found == meta_.metrics.end()) return 0;
  const auto index = static_cast<size_t>(found - meta_.metrics.begin());
  return static_cast<uint64_t>(std::max<int64_t>(0, tree_.metrics[index][record]));
}

LockCounts TableBuilder::CountsOf(uint32_t record) const {
  const profile::Counts& counts = tree_.counts[record];
  return {.gets = uint64_t{counts.entries[0]} + counts.entries[1],
          .nonrec = ValueOf(profile::kLockFirst, record),
          .slow = ValueOf(profile::kLockSlow, record),
          .wait_ns = ValueOf(profile::kLockWait, record),
          .hold_ns = ValueOf(profile::kLockHold, record)};
}

void TableBuilder::AddRecords() {
  for (uint32_t record = 0; record < tree_.size(); ++record) {
    if (!IsLock(record)) continue;
    const size_t context =
        tree_.superseded[record] ? ContextAt(tree_.parent[record]) : ContextOf(record);
    if (context == kNoContext) continue;
    context_of_[record] = context;
    const LockCounts counts = CountsOf(record);
    table_.contexts[context].counts.Add(counts);
    table_.locks[table_.contexts[context].lock].counts.Add(counts);
  }
}

void TableBuilder::AddWaits() {
  std::map<std::pair<size_t, size_t>, LockWait> waits;
  for (const profile::LockEdge& edge : tree_.lock_edges) {
    const size_t waiter = ContextAt(edge.from), owner = ContextAt(edge.to);
    if (edge.kind != profile::LockEdgeKind::kWait || waiter == kNoContext) continue;
    LockWait& wait = waits.try_emplace({waiter, owner}, LockWait{waiter, owner}).first->second;
    wait.count += edge.count;
    wait.time_ns += static_cast<uint64_t>(edge.time_ns);
  }
  for (const auto& [_, wait] : waits)
    table_.locks[table_.contexts[wait.waiter].lock].waits.push_back(wait);
}

void TableBuilder::AddCycles() {
  std::vector<LockOrder> orders;
  for (const profile::LockEdge& edge : tree_.lock_edges) {
    const LockOrder order = {ContextAt(edge.from), ContextAt(edge.to), edge.from_object,
                             edge.to_object};
    if (edge.kind == profile::LockEdgeKind::kOrder && order.from != kNoContext &&
        order.to != kNoContext)
      orders.push_back(order);
  }
  table_.cycles = FindCycles(orders, table_.contexts);
}

auto Weight(const LockCounts& counts) {
  return std::tuple(counts.slow, counts.wait_ns, counts.nonrec, counts.gets);
}

void SortWithin(LockTable& table) {
  for (Lock& lock : table.locks) {
    std::ranges::stable_sort(lock.contexts, std::greater(), [&](size_t context) {
      return Weight(table.contexts[context].counts);
    });
    std::ranges::stable_sort(lock.waits, std::greater(), &LockWait::time_ns);
  }
}

// Returns the numbers of the locks in the order of the report.
std::vector<size_t> Ranking(const LockTable& table) {
  std::vector<size_t> order(table.locks.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, std::greater(),
                           [&](size_t lock) { return Weight(table.locks[lock].counts); });
  return order;
}

void RankLocks(LockTable& table) {
  const std::vector<size_t> order = Ranking(table);
  std::vector<Lock> ranked;
  std::vector<size_t> place(order.size());
  for (const size_t lock : order) {
    place[lock] = ranked.size();
    ranked.push_back(std::move(table.locks[lock]));
  }
  table.locks = std::move(ranked);
  for (LockContext& context : table.contexts) context.lock = place[context.lock];
}

double ElapsedNanos(const profile::ControlHeader& header) {
  if (header.finished == 0 || header.ticks_per_second == 0 ||
      header.end_ticks <= header.start_ticks)
    return 0;
  return 1e9 * static_cast<double>(header.end_ticks - header.start_ticks) /
         static_cast<double>(header.ticks_per_second);
}

}  // namespace

void LockCounts::Add(const LockCounts& other) {
  gets += other.gets;
  nonrec += other.nonrec;
  slow += other.slow;
  wait_ns += other.wait_ns;
  hold_ns += other.hold_ns;
}

std::vector<MethodId> LockTable::PathOf(const LockContext& context, size_t most) const {
  std::vector<MethodId> path;
  for (uint32_t at = context.path; at != 0 && path.size() < most; at = paths[at].caller)
    path.push_back(paths[at].method);
  return path;
}

double LockTable::Utilisation(const LockCounts& counts) const {
  return elapsed_ns > 0 ? 100 * static_cast<double>(counts.hold_ns) / elapsed_ns : 0;
}

Result<LockTable> LoadLocks(Source& source) {
  const profile::Meta& meta = source.reader.meta();
  if (!meta.is(Mode::kLocks)) {
    return WrongUse("{}: a profile of mode {} has no locks; record them with `jprof locks`",
                    source.reader.shown(), meta.mode.empty() ? "(unknown)" : meta.mode);
  }
  auto tree = source.reader.ReadTree();
  if (!tree) return std::unexpected(tree.error());
  LockTable table = {.timed = std::ranges::find(meta.metrics, profile::kLockHold,
                                                &profile::Metric::name) != meta.metrics.end(),
                     .elapsed_ns = ElapsedNanos(source.reader.header()),
                     .names = Names(source.reader)};
  TableBuilder builder(*tree, meta, table);
  builder.AddRecords();
  builder.AddWaits();
  builder.AddCycles();
  SortWithin(table);
  RankLocks(table);
  return table;
}

}  // namespace jprof::model
