// scs: the call tree of a sampled profile (docs/REPORTS.md): samples instead of BASE, and calls
// where the profile knows them (calltree with samples).
#include <algorithm>

#include "reports/header.h"
#include "reports/log_rt_tree.h"
#include "reports/report_list.h"

namespace jprof::reports {
namespace {

constexpr char kLegend[] =
    " legend    LV level, 0 = thread; {} of this node alone; {}types: I interpreted,\n"
    "           J compiled by C1, R by C2, L inlined, N native method, F native function "
    "(module.symbol), K kernel,\n"
    "           O code of the VM, -- class of objects, T thread; busiest first\n\n";

std::string Upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  });
  return text;
}

// SAMPLES, or with several events each one's name.
std::string ColumnName(const Forest& forest, size_t m) {
  return forest.columns.size() == 1 && !forest.columns[m].info.is_weighted()
             ? "SAMPLES"
             : Upper(forest.columns[m].info.name);
}

double PercentOf(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

class ScsText {
 public:
  ScsText(RtTree& tree, Output& out) : tree_(tree), out_(out), has_calls_(tree.forest.calls > 0) {
    for (size_t m = 0; m < tree.forest.columns.size(); ++m) {
      const Column& column = tree.forest.columns[m];
      const size_t digits = fmt::formatted_size("{}", Rounded(InUnit(column, column.raw)));
      widths_.push_back(std::max({size_t{7}, digits, ColumnName(tree.forest, m).size()}));
    }
  }

  void Heading() {
    std::string line = "LV";
    for (size_t m = 0; m < widths_.size(); ++m) {
      line += fmt::format(" {:>{}}", ColumnName(tree_.forest, m), widths_[m]);
      if (tree_.options.cumulative) line += fmt::format(" {:>{}} {:>6}", "CUM", widths_[m], "%");
    }
    out_.Bold(line + (has_calls_ ? "      CALLS NAME\n" : " NAME\n"));
  }

  bool Print(const ShownRow& row) {
    out_.Print("{:2}", row.level);
    for (size_t m = 0; m < widths_.size(); ++m) {
      const Column& column = tree_.forest.columns[m];
      out_.Print(" {:{}}", Rounded(InUnit(column, row.cells[m].base())), widths_[m]);
      if (row.cumulative == nullptr) continue;
      out_.Print(" {:{}} {:6.2f}", Rounded(InUnit(column, row.cumulative[m])), widths_[m],
                 PercentOf(row.cumulative[m], column.raw));
    }
    if (has_calls_) out_.Print(" {:10}", row.calls);
    out_.Print(" {}{}", tree_.Mark(row), tree_.Name(row));
    if (row.level == 0 && !tree_.merged())
      out_.Print(" (tid {})", tree_.ThreadOf(row.row).record.tid);
    out_.Text("\n");
    return out_.ok();
  }

 private:
  RtTree& tree_;
  Output& out_;
  bool has_calls_;
  std::vector<size_t> widths_;  // one a column
};

void PrintText(RtTree& tree, Output& out) {
  PrintTreeHead(tree, "scs", out);
  const bool one = tree.forest.columns.size() == 1;
  out.Print(fmt::runtime(kLegend),
            one ? "SAMPLES" : "each event's SAMPLES, or what they stand for,",
            tree.options.cumulative ? "CUM with all below; " : "");
  ScsText text(tree, out);
  text.Heading();
  Walk walk(tree.forest, tree.options);
  for (const uint32_t root : tree.forest.rows.roots) {
    walk.Thread(root, [&](const ShownRow& row) { return text.Print(row); });
  }
}

void PrintJsonNode(RtTree& tree, const ShownRow& row, Output& out) {
  out.Print("\n{{\"id\":{},\"parent\":", row.id);
  row.level == 0 ? out.Text("null") : out.Integer(row.parent);
  out.Print(",\"level\":{},\"type\":\"{}\",\"name\":", row.level, tree.Type(row));
  out.JsonString(tree.Name(row));
  out.Text(",\"samples\":");
  JsonArray(out, tree.forest.columns, [&](size_t m) { return row.cells[m].base(); });
  out.Text(",\"error\":");
  JsonArray(out, tree.forest.columns, [&](size_t m) { return row.cells[m].error; });
  if (row.cumulative != nullptr) {
    out.Text(",\"cumulative\":");
    JsonArray(out, tree.forest.columns, [&](size_t m) { return row.cumulative[m]; });
  }
  if (tree.forest.calls > 0) out.Print(",\"calls\":{}", row.calls);
  out.Text("}");
}

void PrintJson(RtTree& tree, Output& out) {
  out.Text("{");
  JsonMetrics(tree.forest, out);
  JsonLosses(tree.source, out);
  JsonStacks(tree.source, out);
  out.Text(",");
  JsonRun(tree.source, "scs", out);
  JsonThreads(tree, out, [&](const ShownRow& row) { PrintJsonNode(tree, row, out); });
  out.Text("}\n");
}

void CsvHeading(const RtTree& tree, Output& out) {
  out.Text("id,parent,level,tid,type");
  for (const Column& column : tree.forest.columns) {
    for (const char* what : {"samples", "error", "cumulative"}) {
      if (what[0] == 'c' && !tree.options.cumulative) continue;
      out.Text(",");
      out.CsvField(fmt::format("{}:{}", what, column.info.name));
    }
  }
  out.Text(tree.forest.calls > 0 ? ",calls,name\n" : ",name\n");
}

bool PrintCsvRow(RtTree& tree, uint32_t tid, const ShownRow& row, Output& out) {
  out.Print("{},{},{},{},{}", row.id, row.parent, row.level, tid, tree.Type(row));
  const auto value = [&](size_t m, double raw) {
    out.Text(",");
    out.Number(InUnit(tree.forest.columns[m], raw));
  };
  for (size_t m = 0; m < tree.forest.columns.size(); ++m) {
    value(m, row.cells[m].base());
    value(m, row.cells[m].error);
    if (row.cumulative != nullptr) value(m, row.cumulative[m]);
  }
  if (tree.forest.calls > 0) out.Print(",{}", row.calls);
  out.Text(",");
  out.CsvField(tree.Name(row));
  out.Text("\n");
  return out.ok();
}

void PrintCsv(RtTree& tree, Output& out) {
  CsvHeading(tree, out);
  Walk walk(tree.forest, tree.options);
  for (const uint32_t root : tree.forest.rows.roots) {
    const uint32_t tid = tree.merged() ? 0 : tree.ThreadOf(root).record.tid;
    walk.Thread(root, [&](const ShownRow& row) { return PrintCsvRow(tree, tid, row, out); });
  }
}

// With several events in one tree, or one of them asked for, many rows have none of what is shown:
// out of the way.
void HideEmpty(Rows& rows) {
  std::vector<bool> filled(rows.rows.size());
  for (size_t i = rows.rows.size(); i-- > 0;) {
    for (size_t m = 0; m < rows.metric_count; ++m)
      filled[i] = filled[i] || rows.cell(i, m).raw != 0;
    if (filled[i] && rows.rows[i].parent != kNoRow) filled[rows.rows[i].parent] = true;
  }
  for (Row& parent : rows.rows) {
    uint32_t* link = &parent.first_child;
    while (*link != kNoRow) {
      if (filled[*link]) {
        link = &rows.rows[*link].next;
      } else {
        *link = rows.rows[*link].next;
      }
    }
  }
}

// A sampled tree has no first call: what weighs most stands first, unless another order is asked
// for.
Result<Forest> LoadSampled(Source& source, const Options& options) {
  const std::vector<profile::Metric>& metrics = source.reader.meta().metrics;
  if (std::ranges::none_of(metrics, &profile::Metric::is_samples)) {
    return WrongUse("{} has no samples; its tree is printed by: jprof report log-rt {}",
                    source.reader.directory(), source.reader.directory());
  }
  Result<Forest> forest = LoadForest(source, options);
  if (!forest) return forest;
  if (forest->calls == 0) HideEmpty(forest->rows);
  if (!options.sort) SortByWeight(forest->rows, Cumulative(forest->rows, 0));
  return forest;
}

}  // namespace

Result<void> PrintScs(Source& source, const Options& options, Output& out) {
  Result<Forest> forest = LoadSampled(source, options);
  if (!forest) return std::unexpected(forest.error());
  RtTree tree(source, *forest, options);
  switch (options.format) {
    case Format::kText:
      PrintText(tree, out);
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
