// Collapsed stacks, for flame-graph tools: one line a calling context with its own value.
#include <algorithm>
#include <cmath>

#include "reports/tree_report.h"

namespace jprof::reports {
namespace {

// Frames are divided by ';' and the value by the last blank: neither a signature nor a thread may
// bring in more.
std::string Clean(std::string_view text) {
  std::string clean(text);
  std::ranges::replace(clean, ';', ':');
  return clean;
}

// Methods without their signature, which is full of ';'. An overload's stacks are its namesake's
// then.
std::string FrameName(NamedTree& tree, const ShownRow& shown) {
  const profile::MethodId method =
      shown.row == kNoRow ? profile::kRootMethod : tree.forest.rows.rows[shown.row].method;
  const profile::MethodName parts = tree.forest.names.Parts(method);
  std::string_view name = tree.Name(shown);
  const bool has_signature = !parts.signature.empty() && !(parts.flags & profile::kMethodCode);
  if (has_signature && method != profile::kRootMethod) name = name.substr(0, name.find('('));
  return (tree.Type(shown) == '-' ? "--" : "") + Clean(name);
}

class Collapser {
 public:
  Collapser(NamedTree& tree, Output& out)
      : tree_(tree), out_(out), metric_(tree.forest.metrics[0]) {
    if (metric_.info.unit == "ns") per_unit_ = 1e-3;
  }

  bool Print(const ShownRow& row) {
    frame_ends_.resize(row.level);
    stack_.resize(row.level == 0 ? 0 : frame_ends_.back());
    stack_ += (row.level == 0 ? "" : ";") + FrameName(tree_, row);
    frame_ends_.push_back(stack_.size());
    const uint64_t value = WholeOf(InUnit(metric_, row.cells[0].base()) * per_unit_);
    if (value > 0) out_.Print("{} {}\n", stack_, value);
    return out_.ok();
  }

 private:
  // Whole units with the right sum: the rounding error of a row is carried to the next one.
  uint64_t WholeOf(double value) {
    if (!(value > 0)) return 0;  // over-calibrated
    carry_ += value;
    const double whole = std::clamp(std::floor(carry_ + 0.5), 0.0, 9e18);
    carry_ -= whole;
    return static_cast<uint64_t>(whole);
  }

  NamedTree& tree_;
  Output& out_;
  const MetricTotals& metric_;
  double per_unit_ = 1;  // times in microseconds
  double carry_ = 0;
  std::string stack_;
  std::vector<size_t> frame_ends_;  // of the stack's text, by level
};

}  // namespace

Result<void> PrintCollapsed(NamedTree& tree, Output& out) {
  if (tree.forest.metrics.empty()) {
    return WrongUse("{} has no metric, so its stacks have no values; print it as text or csv",
                    tree.source.reader.directory());
  }
  Walk walk(tree.forest, tree.options);
  for (const uint32_t root : tree.forest.rows.roots) {
    Collapser collapser(tree, out);
    walk.Thread(root, [&](const ShownRow& row) { return collapser.Print(row); });
  }
  return {};
}

}  // namespace jprof::reports
