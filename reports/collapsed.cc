#include "reports/collapsed.h"

#include <algorithm>
#include <cmath>

#include "reports/tree_report.h"

namespace jprof::reports {
namespace {

// Methods without their signature, which is full of ';'. An overload's stacks are its namesake's
// then.
std::string FrameName(NamedTree& tree, const ShownRow& shown) {
  const profile::MethodId method =
      shown.row == kNoRow ? profile::kRootMethod : tree.forest.rows.rows[shown.row].method;
  const profile::MethodName parts = tree.forest.names.Parts(method);
  std::string_view name = tree.Name(shown);
  const bool has_signature = !parts.signature.empty() && !(parts.flags & profile::kMethodCode);
  if (has_signature && method != profile::kRootMethod) name = name.substr(0, name.find('('));
  return (tree.Type(shown) == '-' ? "--" : "") + std::string(name);
}

}  // namespace

void CollapsedStacks::Add(uint32_t level, std::string frame, double value) {
  std::ranges::replace(frame, ';', ':');
  frame_ends_.resize(level);
  stack_.resize(level == 0 ? 0 : frame_ends_.back());
  stack_ += (level == 0 ? "" : ";") + frame;
  frame_ends_.push_back(stack_.size());
  const uint64_t whole = WholeOf(value);
  if (whole > 0) out_.Print("{} {}\n", stack_, whole);
}

// Whole units with the right sum: the rounding error of a row is carried to the next one.
uint64_t CollapsedStacks::WholeOf(double value) {
  if (!(value > 0)) return 0;  // over-calibrated
  carry_ += value;
  const double whole = std::clamp(std::floor(carry_ + 0.5), 0.0, 9e18);
  carry_ -= whole;
  return static_cast<uint64_t>(whole);
}

Result<void> PrintCollapsed(NamedTree& tree, Output& out) {
  const MetricTotals* metric = tree.forest.metrics.empty() ? nullptr : &tree.forest.metrics[0];
  const bool is_time = metric != nullptr && metric->info.unit == "ns";
  const double per_unit = is_time ? 1e-3 : 1;  // times in microseconds
  const auto value = [&](const ShownRow& row) {
    return metric == nullptr ? static_cast<double>(row.calls)
                             : InUnit(*metric, row.cells[0].base()) * per_unit;
  };
  Walk walk(tree.forest, tree.options);
  for (const uint32_t root : tree.forest.rows.roots) {
    CollapsedStacks stacks(out);
    walk.Thread(root, [&](const ShownRow& row) {
      stacks.Add(row.level, FrameName(tree, row), value(row));
      return out.ok();
    });
  }
  return {};
}

}  // namespace jprof::reports
