#include "reports/locks/lock_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "reports/print/options.h"
#include "reports/print/units.h"

namespace jprof::reports {
namespace {

constexpr size_t kOrdersShown = 8;  // of one cycle
constexpr size_t kCyclesShown = 20;
constexpr size_t kFramesShown = 4;

std::string Object(const std::string& name, uint32_t hash, bool shown) {
  return shown ? fmt::format("{}@{:x}", name, hash) : name;
}

std::string OrderText(model::LockTable& table, const model::LockOrder& order, bool same_objects,
                      model::NameForm form) {
  const auto named = [&](size_t context, uint32_t object) {
    return Object(LockName(table, table.contexts[context].lock, form), object, same_objects);
  };
  return fmt::format("    has {}\n      in {}\n    asks for {}\n      in {}\n",
                     named(order.from, order.from_object),
                     PathText(table, order.from, ShortOf(form), kFramesShown),
                     named(order.to, order.to_object),
                     PathText(table, order.to, ShortOf(form), kFramesShown));
}

std::string CycleText(model::LockTable& table, const model::LockCycle& cycle,
                      model::NameForm form) {
  std::string text = cycle.same_objects
                         ? "\n  The same objects: a deadlock if it happens at the same time\n"
                         : "\n  The same classes, maybe of other objects\n";
  for (const model::LockOrder& order :
       std::span(cycle.orders).first(std::min(kOrdersShown, cycle.orders.size()))) {
    text += OrderText(table, order, cycle.same_objects, form) + "\n";
  }
  text.pop_back();
  if (cycle.orders.size() > kOrdersShown)
    text += fmt::format("    ({} more)\n", cycle.orders.size() - kOrdersShown);
  return text;
}

}  // namespace

std::string LockName(model::LockTable& table, size_t lock, model::NameForm form) {
  return std::string(table.names.In(form, table.locks[lock].type));
}

std::string PathText(model::LockTable& table, size_t context, model::NameForm form, size_t frames) {
  std::string text;
  for (uint32_t at = table.contexts[context].path; at != 0; at = table.paths[at].caller) {
    if (frames-- == 0) return text + " < ...";
    text += text.empty() ? "" : " < ";
    text += table.names.In(form, table.paths[at].method);
  }
  return text.empty() ? "(outside any method)" : text;
}

std::string CyclesText(model::LockTable& table, model::NameForm form) {
  if (table.cycles.empty()) return "";
  const size_t shown = std::min(kCyclesShown, table.cycles.size());
  std::string text = fmt::format("\nLocks are taken in contradicting orders: {}\n",
                                 Counted(table.cycles.size(), "cycle", "cycles"));
  for (size_t i = 0; i < shown; ++i) text += CycleText(table, table.cycles[i], form);
  if (shown < table.cycles.size())
    text += fmt::format("\n  ({} more cycles)\n", table.cycles.size() - shown);
  return text;
}

}  // namespace jprof::reports
