// log-rt: the call tree in the classic layout, as JSON and as CSV (docs/REPORTS.md).
#include "reports/header.h"
#include "reports/log_rt_tree.h"
#include "reports/report_list.h"

namespace jprof::reports {
namespace {

void PrintJsonNode(RtTree& tree, const ShownRow& row, Output& out) {
  const std::vector<Column>& columns = tree.forest.columns;
  out.Text("\n{\"id\":");
  out.Integer(row.id);
  out.Text(",\"parent\":");
  row.level == 0 ? out.Text("null") : out.Integer(row.parent);
  out.Text(",\"level\":");
  out.Integer(row.level);
  const char type[] = {tree.Type(row)};
  out.Text(",\"type\":\"");
  out.Text({type, 1});
  out.Text("\",\"name\":");
  out.JsonString(tree.Name(row));
  out.Text(",\"calls\":");
  out.Integer(row.calls);
  out.Text(",\"cee\":");
  out.Integer(row.callees);
  out.Text(",\"base\":");
  JsonArray(out, columns, [&](size_t m) { return row.cells[m].base(); });
  out.Text(",\"raw\":");
  JsonArray(out, columns, [&](size_t m) { return static_cast<double>(row.cells[m].raw); });
  out.Text(",\"error\":");
  JsonArray(out, columns, [&](size_t m) { return row.cells[m].error; });
  if (row.cumulative != nullptr) {
    out.Text(",\"cumulative\":");
    JsonArray(out, columns, [&](size_t m) { return row.cumulative[m]; });
  }
  out.Text(",\"ds\":");
  out.Integer(row.dispatches);
  out.Text(",\"in\":null}");
}

void PrintJson(RtTree& tree, Output& out) {
  out.Text("{");
  JsonMetrics(tree.forest, out);
  JsonLosses(tree.source, out);
  out.Text(",");
  JsonRun(tree.source, "log-rt", out);
  JsonThreads(tree, out, [&](const ShownRow& row) { PrintJsonNode(tree, row, out); });
  out.Text("}\n");
}

void PrintCsv(RtTree& tree, Output& out) {
  const std::vector<Column>& columns = tree.forest.columns;
  out.Text("id,parent,level,tid,type,calls,cee");
  for (const Column& column : columns) {
    for (const char* what : {"base", "raw", "adjust", "error"}) {
      out.Text(",");
      out.CsvField(fmt::format("{}:{}", what, column.info.name));
    }
    if (tree.options.cumulative) out.Text(",");
    if (tree.options.cumulative) out.CsvField("cumulative:" + column.info.name);
  }
  out.Text(",ds,name\n");
  Walk walk(tree.forest, tree.options);
  for (const uint32_t root : tree.forest.rows.roots) {
    const uint32_t tid = tree.merged() ? 0 : tree.ThreadOf(root).record.tid;
    walk.Thread(root, [&](const ShownRow& row) {
      out.Print("{},{},{},{},{},{},{}", row.id, row.parent, row.level, tid, tree.Type(row),
                row.calls, row.callees);
      for (size_t m = 0; m < columns.size(); ++m) {
        const Cell& cell = row.cells[m];
        for (const double raw :
             {cell.base(), static_cast<double>(cell.raw), cell.adjust, double{cell.error}}) {
          out.Text(",");
          out.Number(InUnit(columns[m], raw));
        }
        if (row.cumulative != nullptr) out.Text(",");
        if (row.cumulative != nullptr) out.Number(InUnit(columns[m], row.cumulative[m]));
      }
      out.Print(",{},", row.dispatches);
      out.CsvField(tree.Name(row));
      out.Text("\n");
      return out.ok();
    });
  }
}

}  // namespace

Result<void> PrintLogRt(Source& source, const Options& options, Output& out) {
  Result<Forest> forest = LoadForest(source, options);
  if (!forest) return std::unexpected(forest.error());
  RtTree tree(source, *forest, options);
  switch (options.format) {
    case Format::kText:
      PrintLogRtText(tree, out);
      break;
    case Format::kJson:
      PrintJson(tree, out);
      break;
    case Format::kCsv:
      PrintCsv(tree, out);
      break;
    case Format::kCollapsed:
      return PrintCollapsed(tree, out);
  }
  return {};
}

}  // namespace jprof::reports
