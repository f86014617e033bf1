#include "reports/tree/tree_report.h"

#include "reports/print/formats.h"
#include "reports/quality/quality_of.h"
#include "reports/tree/header.h"
#include "reports/tree/hottest.h"
#include "reports/tree/metric_head.h"

namespace jprof::reports {

void PrintTreeHead(NamedTree& tree, std::string_view report, Output& out) {
  Head head = ForestHead(tree.source, tree.forest, report);
  head.width = tree.options.width;
  PrintHead(head, QualityOf(tree.source, tree.forest), out);
  PrintHottest(HottestOf(tree.forest, tree.options), tree.options, out);
}

Value TreeRow::MarkedName() const {
  buffer = Before(shown.place);
  if (shown.row != model::kNoNode) buffer += type == '-' ? "--" : std::string{type, ':'};
  buffer += tree.ShownName(shown);
  if (shown.level == 0 && tid != 0) buffer += fmt::format(" (tid {})", tid);
  return Value::Text(buffer);
}

void AddIdentity(TreeColumns& columns, const Options& options) {
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
  if (options.call_sites) {
    columns.Add(kCsv | kJson, {"line"}, [](const TreeRow& row) {
      const uint32_t line = row.tree.LineOf(row.shown);
      return line != 0 ? Value::Integer(line) : Value::Missing();
    });
  }
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
  Walk walk(tree.forest, tree.options);
  const Layout layout = {
      .head = std::move(head),
      .tail = {.text = [&](Output& text) { text.Text(HiddenText(walk.percent())); }},
      .rows = "threads",
      .width = tree.options.width,
      .legend = tree.options.legend};
  const auto writer = EntryOf(tree.options.format).make(layout, out);
  std::string buffer;
  const auto write = [&](const ShownRow& shown, uint32_t tid) {
    writer->Row(columns.Of({tree, shown, tid, tree.Type(shown), buffer}));
    return out.ok();
  };
  writer->Begin(columns.columns());
  for (const model::NodeIndex root : tree.forest.rows.roots) {
    if (walk.HidesThread(root)) continue;
    const uint32_t tid = tree.TidOf(root);
    writer->BeginGroup(tid, tree.RootName(root));
    walk.Thread(root, [&](const ShownRow& shown) { return write(shown, tid); });
    writer->EndGroup();
  }
  walk.OtherThreads([&](const ShownRow& shown) { return write(shown, 0); });
  writer->End();
}

}  // namespace jprof::reports
