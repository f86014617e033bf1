#include "reports/view/locks_view.h"

#include <algorithm>
#include <span>
#include <vector>

namespace jprof::reports {
namespace {

using nlohmann::json;

constexpr size_t kMostContexts = 100;  // of each lock
constexpr size_t kMostWaits = 2000;    // of each lock
constexpr size_t kMostCycles = 500;
constexpr size_t kMostOrders = 50;  // of each cycle
constexpr size_t kDeepest = 200;    // frames of a context

template <typename T>
std::span<const T> First(const std::vector<T>& all, size_t most) {
  return std::span(all).first(std::min(most, all.size()));
}

json CountsOf(const model::LockCounts& counts) {
  return {{"gets", counts.gets}, {"nonrec", counts.nonrec},   {"rec", counts.rec()},
          {"slow", counts.slow}, {"wait_ns", counts.wait_ns}, {"hold_ns", counts.hold_ns}};
}

// Writes what the page shows of the table. A context is written when it is first referred to.
class LocksWriter {
 public:
  LocksWriter(model::LockTable& table, ViewNames& names)
      : table_(table), names_(names), places_(table.contexts.size(), model::kNoContext) {}

  json Write() {
    json locks = json::array(), cycles = json::array();
    for (const model::Lock& lock : table_.locks) locks.push_back(LockOf(lock));
    for (const model::LockCycle& cycle : First(table_.cycles, kMostCycles))
      cycles.push_back(CycleOf(cycle));
    return {{"timed", table_.timed},
            {"elapsed_ns", table_.elapsed_ns},
            {"locks", std::move(locks)},
            {"cycles", std::move(cycles)},
            {"cycles_all", table_.cycles.size()},
            {"contexts", std::move(contexts_)}};
  }

 private:
  json LockOf(const model::Lock& lock) {
    json contexts = json::array(), waits = json::array();
    for (const size_t context : First(lock.contexts, kMostContexts))
      contexts.push_back(ContextOf(context));
    for (const model::LockWait& wait : First(lock.waits, kMostWaits)) {
      waits.push_back({{"waiter", ContextOf(wait.waiter)},
                       {"owner", ContextOf(wait.owner)},
                       {"count", wait.count},
                       {"time_ns", wait.time_ns}});
    }
    json written = CountsOf(lock.counts);
    written["name"] = NameOf(lock.type);
    written["type"] = EntryOf(lock.kind).name;
    written["held"] = EntryOf(lock.kind).is_held;
    written["contexts"] = std::move(contexts);
    written["contexts_all"] = lock.contexts.size();
    written["waits"] = std::move(waits);
    written["waits_all"] = lock.waits.size();
    return written;
  }

  json CycleOf(const model::LockCycle& cycle) {
    json orders = json::array();
    for (const model::LockOrder& order : First(cycle.orders, kMostOrders)) {
      orders.push_back({{"has", ContextOf(order.from)},
                        {"has_object", order.from_object},
                        {"asks_for", ContextOf(order.to)},
                        {"asks_for_object", order.to_object}});
    }
    return {{"same_objects", cycle.same_objects},
            {"orders", std::move(orders)},
            {"orders_all", cycle.orders.size()}};
  }

  // Returns the number of the context on the page, or null if it is not known.
  json ContextOf(size_t context) {
    if (context == model::kNoContext) return nullptr;
    if (places_[context] == model::kNoContext) {
      places_[context] = contexts_.size();
      const model::LockContext& one = table_.contexts[context];
      json written = CountsOf(one.counts);
      written["lock"] = one.lock;
      written["path"] = json::array();
      for (const profile::MethodId method : table_.PathOf(one, kDeepest))
        written["path"].push_back(NameOf(method));
      contexts_.push_back(std::move(written));
    }
    return places_[context];
  }
  uint32_t NameOf(profile::MethodId method) { return names_.Of(table_.names.Of(method)); }

  model::LockTable& table_;
  ViewNames& names_;
  std::vector<size_t> places_;  // by number in the table
  json contexts_ = json::array();
};

}  // namespace

void AddLocks(model::LockTable& table, ViewNames& names, ViewData& data) {
  const json locks = LocksWriter(table, names).Write();
  data["locks"] = data.AddText(locks.dump(-1, ' ', false, json::error_handler_t::replace));
}

}  // namespace jprof::reports
