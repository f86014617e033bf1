#include "reports/tree/collapsed.h"

#include <algorithm>
#include <cmath>

#include "reports/tree/tree_report.h"

namespace jprof::reports {
namespace {

// Returns the name without its signature, which is full of ';'. So overloads share their stacks.
std::string FrameName(NamedTree& tree, const ShownRow& shown) {
  const profile::MethodId method =
      shown.row == model::kNoNode ? profile::kRootMethod : tree.forest.rows.rows[shown.row].method;
  const profile::MethodName parts = tree.forest.names.Parts(method);
  std::string_view name = tree.Name(shown);
  const bool has_signature = !parts.signature.empty() && !(parts.flags & profile::kMethodCode);
  if (has_signature && method != profile::kRootMethod) name = name.substr(0, name.find('('));
  return (tree.Type(shown) == '-' ? "--" : "") + std::string(name);
}

}  // namespace

CollapsedStacks::~CollapsedStacks() {
  WriteDeep();
  out_.Remark(model::DeepRecursionText(folded_));
}

void CollapsedStacks::Add(uint32_t level, std::string frame, double value) {
  if (frame.empty()) frame = "(unnamed)";
  std::ranges::replace(frame, ';', ':');
  if (level > model::kWholeFrames) return AddDeep(level - model::kWholeFrames, frame, value);
  WriteDeep();
  if (level == 0) carry_ = 0;
  frame_ends_.resize(level);
  stack_.resize(level == 0 ? 0 : frame_ends_.back());
  stack_ += (level == 0 ? "" : ";") + frame;
  frame_ends_.push_back(stack_.size());
  Write(stack_, value);
}

void CollapsedStacks::AddDeep(uint32_t level, const std::string& frame, double value) {
  if (deep_.stack.empty()) deep_.stack.push_back(deep_.contexts.Add(model::kNoNode, {}));
  const auto [known, is_new] =
      deep_.frame_of.try_emplace(frame, static_cast<model::FrameIndex>(deep_.names.size()));
  if (is_new) deep_.names.push_back(frame);
  deep_.stack.resize(level);
  deep_.stack.push_back(deep_.contexts.Add(deep_.stack.back(), known->second));
  deep_.values.resize(deep_.contexts.contexts().size());
  deep_.values[deep_.stack.back()] += value;
}

void CollapsedStacks::WriteDeep() {
  const std::vector<model::DeepRecursion::Context>& contexts = deep_.contexts.contexts();
  for (size_t i = 1; i < contexts.size() && out_.ok(); ++i) {
    std::string below;
    for (size_t at = i; at != 0; at = contexts[at].parent)
      below.insert(0, ";" + deep_.names[IndexOf(contexts[at].frame)]);
    Write(stack_ + below, deep_.values[i]);
  }
  folded_ += deep_.contexts.folded();
  if (!contexts.empty()) deep_ = {};
}

void CollapsedStacks::Write(const std::string& stack, double value) {
  const uint64_t whole = WholeOf(value);
  if (whole > 0) out_.Print("{} {}\n", stack, whole);
}

// Converts values to whole units with the right sum: the rounding error of a row is carried to the
// next one.
uint64_t CollapsedStacks::WholeOf(double value) {
  if (!(value > 0)) return 0;  // over-calibrated
  carry_ += value;
  const double whole = std::clamp(std::floor(carry_ + 0.5), 0.0, 9e18);
  carry_ -= whole;
  return static_cast<uint64_t>(whole);
}

Result<void> PrintCollapsed(NamedTree& tree, Output& out) {
  const model::MetricTotals* metric =
      tree.forest.metrics.empty() ? nullptr : &tree.forest.metrics[0];
  const bool is_time = metric != nullptr && metric->info.unit == "ns";
  const double per_unit = is_time ? 1e-3 : 1;  // times in microseconds
  const auto value = [&](const ShownRow& row) {
    return metric == nullptr ? static_cast<double>(row.calls)
                             : model::InUnit(*metric, row.cells[0].base()) * per_unit;
  };
  Walk walk(tree.forest, tree.options);
  CollapsedStacks stacks(out);
  for (const model::NodeIndex root : tree.forest.rows.roots) {
    walk.Thread(root, [&](const ShownRow& row) {
      stacks.Add(row.level, FrameName(tree, row), value(row));
      return out.ok();
    });
  }
  return {};
}

}  // namespace jprof::reports
