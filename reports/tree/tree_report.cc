#include "reports/tree/tree_report.h"

#include "model/tree/flat.h"
#include "reports/print/formats.h"
#include "reports/quality/quality_of.h"
#include "reports/tree/header.h"
#include "reports/tree/metric_head.h"

namespace jprof::reports {
namespace {

// Prints the few methods that cost most.
void PrintHottest(NamedTree& tree, Output& out) {
  constexpr size_t kShown = 5;
  const std::vector<model::MethodSum> sums =
      model::SumByMethod(tree.forest, /*with_cumulative=*/false);
  const std::vector<model::MetricTotals>& metrics = tree.forest.metrics;
  const double whole =
      metrics.empty() ? static_cast<double>(tree.forest.calls) : metrics[0].raw - metrics[0].adjust;
  size_t shown = 0;
  for (const model::MethodSum& sum : sums) {
    const double part = metrics.empty() ? static_cast<double>(sum.calls) : sum.self[0].base();
    if (sum.method == profile::kRootMethod || part <= 0 || whole <= 0) continue;
    const bool sampled = tree.forest.calls == 0 && sum.samples > 0;
    const std::string above = model::AboveWholeText(tree.forest, part);
    out.Print(" {:<9} {:5.1f} % {} ({} {}{}{})\n", shown == 0 ? "hottest" : "", 100 * part / whole,
              Shortened(tree.forest.names.Of(sum.method)), sampled ? sum.samples : sum.calls,
              sampled ? "samples" : "calls", above.empty() ? "" : "; ", above);
    if (++shown == kShown) break;
  }
}

}  // namespace

void PrintTreeHead(NamedTree& tree, std::string_view report, Output& out) {
  PrintHead(ForestHead(tree.source, tree.forest, report), QualityOf(tree.source, tree.forest), out);
  PrintHottest(tree, out);
}

Value TreeRow::MarkedName() const {
  buffer.assign(type == '-' ? "--" : std::string_view{&type, 1});
  if (type != '-') buffer += ':';
  buffer += tree.Name(shown);
  if (shown.level == 0 && tid != 0) buffer += fmt::format(" (tid {})", tid);
  return Value::Text(buffer);
}

void AddIdentity(TreeColumns& columns) {
  columns.Add(kCsv | kJson, {"id"},
              [](const TreeRow& row) { return Value::Integer(row.shown.id); });
  columns.Add(kCsv, {"parent"},
              [](const TreeRow& row) { return Value::Integer(row.shown.parent); });
  columns.Add(kJson, {"parent"}, [](const TreeRow& row) {
    return row.shown.level == 0 ? Value::Missing() : Value::Integer(row.shown.parent);
  });
  columns.Add(kCsv | kJson, {"level"},
              [](const TreeRow& row) { return Value::Integer(row.shown.level); });
  columns.Add(kCsv, {"tid"}, [](const TreeRow& row) { return Value::Integer(row.tid); });
  columns.Add(kCsv | kJson, {"type"}, [](const TreeRow& row) { return row.TypeText(); });
  columns.Add(kJson, {"name"},
              [](const TreeRow& row) { return Value::Text(row.tree.Name(row.shown)); });
}

void AddList(TreeColumns& columns, const NamedTree& tree, const char* name,
             double (*raw)(const ShownRow& shown, size_t metric)) {
  const std::vector<model::MetricTotals>& metrics = tree.forest.metrics;
  columns.Add(kJson, {.name = name, .shape = Column::Shape::kList, .cells = metrics.size()},
              [&metrics, raw](const TreeRow& row, size_t m) {
                return Value::Number(model::InUnit(metrics[m], raw(row.shown, m)));
              });
}

void AddCsv(TreeColumns& columns, const NamedTree& tree, const char* name, size_t m,
            double (*raw)(const ShownRow& shown, size_t metric)) {
  const model::MetricTotals& metric = tree.forest.metrics[m];
  columns.Add(kCsv, {fmt::format("{}:{}", name, metric.info.name)},
              [&metric, m, raw](const TreeRow& row) {
                return Value::Number(model::InUnit(metric, raw(row.shown, m)));
              });
}

void PrintTree(NamedTree& tree, TreeColumns& columns, Section head, Output& out) {
  const Layout layout = {.head = std::move(head), .rows = "threads"};
  const auto writer = EntryOf(tree.options.format).make(layout, out);
  std::string buffer;
  Walk walk(tree.forest, tree.options);
  writer->Begin(columns.columns());
  for (const model::NodeIndex root : tree.forest.rows.roots) {
    const uint32_t tid = tree.TidOf(root);
    writer->BeginGroup(tid, tree.merged() ? "(all threads)" : tree.ThreadOf(root).name);
    walk.Thread(root, [&](const ShownRow& shown) {
      writer->Row(columns.Of({tree, shown, tid, tree.Type(shown), buffer}));
      return out.ok();
    });
    writer->EndGroup();
  }
  writer->End();
}

}  // namespace jprof::reports
