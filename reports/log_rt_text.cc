// log-rt as text: the classic columns under a head that says what they are worth.
#include <algorithm>
#include <cmath>

#include "reports/flat.h"
#include "reports/header.h"
#include "reports/log_rt_tree.h"

namespace jprof::reports {
namespace {

class TextTree {
 public:
  TextTree(RtTree& tree, Output& out) : tree_(tree), out_(out), columns_(tree.forest.columns) {
    for (const Row& row : tree.forest.rows.rows) {
      most_calls_ = std::max({most_calls_, row.calls, row.callees});
      deepest_ = std::max(deepest_, row.level);
    }
    calls_width_ = std::max<int>(5, Digits(static_cast<double>(most_calls_)));
    level_width_ = std::max<int>(2, Digits(deepest_));
    for (const Column& column : columns_) {
      double most = column.raw;  // cumulative values may reach the total
      if (!tree.options.cumulative) most = MostRaw(&column - columns_.data());
      value_width_.push_back(std::max<int>(8, 1 + Digits(InUnit(column, most))));
    }
  }

  void Heading() {
    std::string line = fmt::format("{:>{}} {:>{}} {:>{}}", "LV", level_width_, "CALLS",
                                   calls_width_, "CEE", calls_width_);
    for (size_t m = 0; m < columns_.size(); ++m) {
      const std::string suffix = m == 0 ? "" : "-" + std::to_string(m);
      const auto add = [&](std::string_view name) {
        line += fmt::format(" {:>{}}", std::string(name) + suffix, value_width_[m]);
      };
      if (tree_.options.raw) add("RAW"), add("ADJUST");
      add(columns_[m].info.is_samples() ? "SAMPLES" : "BASE");
      if (tree_.options.raw) add("ERROR");
      if (tree_.options.cumulative) add("CUM");
    }
    out_.Bold(line + " DS IN NAME\n");
  }

  bool Print(const ShownRow& row) {
    Put(row.level, level_width_);
    Put(static_cast<int64_t>(row.calls), calls_width_ + 1);
    Put(static_cast<int64_t>(row.callees), calls_width_ + 1);
    for (size_t m = 0; m < columns_.size(); ++m) {
      const Cell& cell = row.cells[m];
      const auto value = [&](double raw) {
        Put(Rounded(InUnit(columns_[m], raw)), value_width_[m] + 1);
      };
      if (tree_.options.raw) value(static_cast<double>(cell.raw)), value(cell.adjust);
      value(std::max(0.0, cell.base()));
      if (tree_.options.raw) value(cell.error);
      if (tree_.options.cumulative) value(std::max(0.0, row.cumulative[m]));
    }
    Put(static_cast<int64_t>(row.dispatches), 3);
    out_.Text("  - ");
    out_.Text(tree_.Mark(row));
    out_.Text(tree_.Name(row));
    if (row.level == 0 && !tree_.merged())
      out_.Print(" (tid {})", tree_.ThreadOf(row.row).record.tid);
    out_.Text("\n");
    return out_.ok();
  }

 private:
  static int Digits(double value) {
    return static_cast<int>(fmt::formatted_size("{}", Rounded(value)));
  }

  double MostRaw(size_t metric) const {
    double most = 0;
    const Rows& rows = tree_.forest.rows;
    for (size_t i = 0; i < rows.rows.size(); ++i) {
      most = std::max(most, std::abs(static_cast<double>(rows.cell(i, metric).raw)));
    }
    return most;
  }

  // A number set right in `width` columns: fmt's own padding costs twice as much, and this runs 60
  // million times.
  void Put(int64_t value, int width) {
    const fmt::format_int digits(value);
    static constexpr std::string_view kBlanks = "                                ";
    const size_t pad = width > static_cast<int>(digits.size()) ? width - digits.size() : 0;
    out_.Text(kBlanks.substr(0, pad));
    out_.Text({digits.data(), digits.size()});
  }

  RtTree& tree_;
  Output& out_;
  const std::vector<Column>& columns_;
  uint64_t most_calls_ = 0;
  uint32_t deepest_ = 0;
  int calls_width_ = 5;
  int level_width_ = 2;
  std::vector<int> value_width_;
};

// The few methods that cost most, so that the first screen answers the first question.
void PrintHottest(RtTree& tree, Output& out) {
  constexpr size_t kShown = 5;
  const std::vector<MethodSum> sums = SumByMethod(tree.forest, /*with_cumulative=*/false);
  const std::vector<Column>& columns = tree.forest.columns;
  const double whole =
      columns.empty() ? static_cast<double>(tree.forest.calls) : columns[0].raw - columns[0].adjust;
  size_t shown = 0;
  for (const MethodSum& sum : sums) {
    const double part = columns.empty() ? static_cast<double>(sum.calls) : sum.self[0].base();
    if (sum.method == profile::kRootMethod || part <= 0 || whole <= 0) continue;
    const bool sampled = tree.forest.calls == 0 && sum.samples > 0;
    out.Print(" {:<9} {:5.1f} % {} ({} {})\n", shown == 0 ? "hottest" : "", 100 * part / whole,
              tree.forest.names.Of(sum.method), sampled ? sum.samples : sum.calls,
              sampled ? "samples" : "calls");
    if (++shown == kShown) break;
  }
}

}  // namespace

void PrintTreeHead(RtTree& tree, std::string_view report, Output& out) {
  PrintRun(tree.source, report, out);
  PrintMetrics(tree.source, tree.forest, out);
  PrintStacks(tree.source, out);
  PrintLosses(tree.source, out);
  const uint64_t open = tree.forest.rows.open_frames;
  if (open > 0) out.Print(" open      {} calls had not returned\n", open);
  PrintHottest(tree, out);
}

void PrintLogRtText(RtTree& tree, Output& out) {
  PrintTreeHead(tree, "log-rt", out);
  const Rows& rows = tree.forest.rows;
  out.Text(
      " legend    LV level, 0 = thread; CALLS on this path; CEE calls it made; BASE the metric of "
      "this node alone;\n"
      "           DS dispatches while it ran; IN interrupts (- = this machine cannot tell); types: "
      "I interpreted,\n"
      "           J compiled by C1, R by C2, N native, O other, T thread; busiest thread first\n");
  const auto& columns = tree.forest.columns;
  if (std::any_of(columns.begin(), columns.end(),
                  [](const Column& column) { return column.info.is_samples(); })) {
    out.Text(
        "           SAMPLES stands for BASE where samples were taken: of this node alone, not "
        "calibrated\n");
  }
  out.Text("\n");
  TextTree text(tree, out);
  Walk walk(tree.forest, tree.options);
  text.Heading();
  for (const uint32_t root : rows.roots)
    walk.Thread(root, [&](const ShownRow& row) { return text.Print(row); });
}

}  // namespace jprof::reports
