// Prints compare as one HTML page: sortable tables, and the calling contexts as a tree with
// coloured differences.
#include <algorithm>
#include <cmath>
#include <functional>
#include <initializer_list>

#include "reports/compare/compare.h"
#include "reports/print/html_page.h"
#include "reports/tree/header.h"

namespace jprof::reports {
namespace {

constexpr size_t kTableRows = 200;    // at least, if that many exist
constexpr size_t kTreeRows = 4000;    // at most
constexpr double kTreeShare = 0.001;  // contexts below it in all profiles are left out
constexpr size_t kCellCallers = 3, kTitleCallers = 40;
constexpr auto kForm = model::NameForm::kFull;

std::string Percent(double share) { return fmt::format("{:.2f}", 100 * share); }

// Replaces NaN, by which JavaScript cannot sort.
double Sortable(double value) { return std::isfinite(value) ? value : 0; }

std::string ShownName(const model::JointTree& tree, uint32_t name) {
  return EscapedHtml(model::MethodIn(kForm, tree.names[name]));
}

void PrintCell(double value, const std::string& text, Output& out) {
  out.Print("<td data-v=\"{:.9g}\">{}</td>", Sortable(value), text);
}

void HeadLine(std::string_view label, std::string_view text, Output& out) {
  out.Print("<dt>{}</dt><dd>{}</dd>\n", EscapedHtml(label), EscapedHtml(text));
}

void SideLines(const Side& side, std::string_view label, Output& out) {
  HeadLine(label,
           fmt::format("{} ({}): {}; {} in methods, {} outside any", side.directory, side.mode,
                       side.how, AmountOf(side, side.inside), AmountOf(side, side.outside)),
           out);
}

// Prints the grade, and each fact that is more than a statement with what it means.
void QualityLines(const Quality& quality, Output& out) {
  HeadLine("quality", GradeOf(quality.worst()), out);
  for (const Fact& fact : quality.facts) {
    if (fact.severity != Severity::kInfo)
      HeadLine("", fmt::format("{}. {} {}", fact.text, fact.means, fact.advice), out);
  }
}

void BeginTable(std::string_view title, std::initializer_list<std::string_view> columns,
                Output& out) {
  out.Print("<h2>{}</h2>\n<div class=\"scroll\"><table>\n<thead><tr>", title);
  for (const std::string_view column : columns) out.Print("<th>{}</th>", column);
  out.Text("</tr></thead>\n<tbody>\n");
}
void BeginDifferences(std::string_view title, bool absolute, std::string_view name, Output& out) {
  if (absolute) return BeginTable(title, {"B-A", "95 % from, to", "sure", "A", "B", name}, out);
  BeginTable(title, {"B-A %", "95 % from, to", "sure", "A %", "B %", name}, out);
}
void EndTable(Output& out) { out.Text("</tbody>\n</table></div>\n"); }

void PrintPathCell(const model::JointTree& tree, model::NodeIndex context, Output& out) {
  const auto path = [&](size_t callers) {
    return EscapedHtml(PathText(tree, context, callers, kForm));
  };
  out.Print("<td title=\"{}\">{}</td>", path(kTitleCallers), path(kCellCallers));
}

// Lists the rows of the tree in display order, the largest first.
class TreeRows {
 public:
  using Weight = std::function<double(model::NodeIndex)>;
  TreeRows(const model::JointTree& tree, Weight weight) : tree_(tree), weight_(std::move(weight)) {}

  std::vector<model::NodeIndex> Take() {
    Push(0);
    while (!waiting_.empty() && rows_.size() < kTreeRows) {
      const model::NodeIndex at = waiting_.back();
      waiting_.pop_back();
      rows_.push_back(at);
      Push(at);
    }
    return std::move(rows_);
  }

 private:
  // Pushes the heaviest child last, because it is taken first.
  void Push(model::NodeIndex parent) {
    std::vector<std::pair<double, model::NodeIndex>> children;
    for (model::NodeIndex i = tree_.contexts[parent].first_child; i != model::kNoNode;
         i = tree_.contexts[i].next) {
      if (const double weight = Sortable(weight_(i)); weight >= kTreeShare)
        children.emplace_back(weight, i);
    }
    std::ranges::sort(children);
    for (const auto& [weight, child] : children) waiting_.push_back(child);
  }

  const model::JointTree& tree_;
  Weight weight_;
  std::vector<model::NodeIndex> waiting_, rows_;
};

double BarWidth(double share) { return 100 * std::clamp(Sortable(share), 0.0, 1.0); }

void BeginRow(const model::Context& context, Output& out) {
  out.Print("<div class=\"r\" data-l=\"{}\" style=\"--l:{}\">", context.level,
            std::min(context.level, 80u));
}

double ShareAt(const Comparison& comparison, model::NodeIndex context, size_t side) {
  const model::Amount& whole = comparison.sides[side].inside;
  return comparison.tree.contexts[context].all[side].value / whole.value;
}

// Returns a colour whose strength is the size of the change; changes within the error have none.
std::string Colour(const Difference& difference, double share) {
  if (difference.within) return "class=\"n\"";
  return fmt::format("class=\"n {}\" style=\"--d:{:.2f}\"",
                     difference.change.value > 0 ? "more" : "less",
                     std::clamp(0.12 + 2 * std::abs(Sortable(share)), 0.12, 0.75));
}

void DifferenceRow(const Comparison& comparison, model::NodeIndex context, Output& out) {
  const double a = ShareAt(comparison, context, 0), b = ShareAt(comparison, context, 1);
  const Difference difference = comparison.Of(comparison.tree.contexts[context].all);
  BeginRow(comparison.tree.contexts[context], out);
  out.Print("<span class=\"v\">{}</span><span class=\"v\">{}</span>", Percent(a), Percent(b));
  out.Print(
      "<span class=\"bars\"><i class=\"a\" style=\"width:{:.2f}%\"></i><i class=\"b\" "
      "style=\"width:{:.2f}%\"></i></span>",
      BarWidth(a), BarWidth(b));
  out.Print("<span {}>{}</span></div>\n", Colour(difference, b - a),
            ShownName(comparison.tree, comparison.tree.contexts[context].name));
}

void PrintDifferenceCells(const Comparison& comparison, const std::array<model::Amount, 2>& amounts,
                          Output& out) {
  const Difference difference = comparison.Of(amounts);
  const auto text = [&](double value, bool sign) {
    const double shown =
        comparison.absolute ? static_cast<double>(model::Rounded(value)) : 100 * value;
    const int digits = comparison.absolute ? 0 : 2;
    return sign ? fmt::format("{:+.{}f}", shown, digits) : fmt::format("{:.{}f}", shown, digits);
  };
  out.Text(difference.within ? "<tr class=\"within\">" : "<tr>");
  PrintCell(difference.change.value, text(difference.change.value, true), out);
  PrintCell(difference.change.high - difference.change.low,
            fmt::format("{} to {}", text(difference.change.low, true),
                        text(difference.change.high, true)),
            out);
  PrintCell(difference.within, difference.within ? "within error" : "differs", out);
  PrintCell(difference.a.value, text(difference.a.value, false), out);
  PrintCell(difference.b.value, text(difference.b.value, false), out);
}

void HotTable(std::string_view title, const FlatAndContext& flat,
              const std::vector<HotMethod>& methods, Output& out) {
  BeginTable(title,
             {"self %", "from, to", "with callees %", "from, to", "of the method %", "from, to",
              "method &lt; callers"},
             out);
  const auto share = [&](const model::Estimate& estimate) {
    PrintCell(estimate.value, Percent(estimate.value), out);
    PrintCell(estimate.high - estimate.low, Percent(estimate.low) + " to " + Percent(estimate.high),
              out);
  };
  for (const HotMethod& method : methods) {
    const auto row = [&](const model::Estimate& part, const auto& name) {
      out.Text("<tr>");
      share(method.self), share(method.all), share(part);
      name();
      out.Text("</tr>\n");
    };
    if (method.parts.empty()) {
      row({1, 1, 1},
          [&] { out.Print("<td title=\"{0}\">{0}</td>", ShownName(flat.tree, method.name)); });
    }
    for (const Part& part : method.parts)
      row(part.share, [&] { PrintPathCell(flat.tree, part.context, out); });
  }
  EndTable(out);
}

void CallTable(const Comparison& comparison, size_t most, Output& out) {
  if (comparison.calls.empty()) return;
  BeginTable("Single calls of contexts, with all that they called",
             {"clock", "P50 A", "P50 B", "B/A", "P90 A", "P90 B", "B/A", "P99 A", "P99 B", "B/A",
              "calls A", "calls B", "method &lt; callers"},
             out);
  const std::vector<CallChange>& contexts = comparison.calls.contexts;
  for (size_t i = 0; i < std::min(most, contexts.size()); ++i) {
    for (const ClockChange& clock : contexts[i].clocks) {
      out.Print("<tr><td>{}</td>", clock.clock);
      for (const TimeChange& quantile : clock.quantiles) {
        PrintCell(quantile.a.time, EscapedHtml(TimeText(quantile.a)), out);
        PrintCell(quantile.b.time, EscapedHtml(TimeText(quantile.b)), out);
        PrintCell(quantile.ratio.value,
                  (quantile.within ? "~" : "") + RatioText(quantile.ratio.value), out);
      }
      for (const uint64_t calls : contexts[i].calls)
        PrintCell(static_cast<double>(calls), std::to_string(calls), out);
      PrintPathCell(comparison.tree, contexts[i].id, out);
      out.Text("</tr>\n");
    }
  }
  EndTable(out);
}

}  // namespace

void PrintHtml(const FlatAndContext& flat, const CompareOptions&, Output& out) {
  BeginPage(fmt::format("jprof compare of {}: flat against contextual", flat.side.directory), out);
  out.Text("<dl>\n");
  SideLines(flat.side, "profile", out);
  QualityLines(flat.side.quality, out);
  out.Text(
      "</dl>\n<p class=\"note\">A click on a heading sorts, a click on a row of the tree folds it. "
      "Intervals are of 95 %.</p>\n");
  HotTable("Hot methods, and the contexts of their own time", flat, flat.by_self, out);
  HotTable("Hot with all they called, and the contexts of that", flat, flat.by_all, out);
  HotTable("Small flat, large with callees", flat, flat.hidden, out);
  const auto share = [&](model::NodeIndex i) {
    return flat.tree.contexts[i].all[0].value / flat.side.inside.value;
  };
  out.Text("<h2>Calling contexts, with callees</h2>\n<div class=\"scroll\">\n");
  for (const model::NodeIndex row : TreeRows(flat.tree, share).Take()) {
    BeginRow(flat.tree.contexts[row], out);
    out.Print(
        "<span class=\"v\">{}</span><span class=\"bars\"><i class=\"a\" "
        "style=\"width:{:.2f}%\"></i></span>"
        "<span class=\"n\">{}</span></div>\n",
        Percent(share(row)), BarWidth(share(row)),
        ShownName(flat.tree, flat.tree.contexts[row].name));
  }
  out.Text("</div>\n");
  EndPage(out);
}

void PrintHtml(const Comparison& comparison, const CompareOptions& options, Output& out) {
  const model::JointTree& tree = comparison.tree;
  const size_t most = std::max(options.top, kTableRows);
  BeginPage(fmt::format("jprof compare of {} (A) and {} (B)", comparison.sides[0].directory,
                        comparison.sides[1].directory),
            out);
  out.Text("<dl>\n");
  SideLines(comparison.sides[0], "A", out);
  SideLines(comparison.sides[1], "B", out);
  HeadLine("agree",
           fmt::format("{} of each one's top {} contexts are in both; rank correlation (Spearman) "
                       "{:.2f} over the {} of either",
                       comparison.top.both, comparison.top.size, comparison.top.rank_either,
                       comparison.top.either),
           out);
  HeadLine("differ",
           fmt::format("{} of {} contexts and {} of {} methods by more than their error",
                       comparison.contexts_beyond, comparison.contexts.size(),
                       comparison.methods_beyond, comparison.methods.size()),
           out);
  QualityLines(QualityOfBoth(comparison), out);
  out.Print(
      "</dl>\n<p class=\"note\">A click on a heading sorts, a click on a row "
      "of the tree folds it. Tables: {}, without callees. Tree: shares with "
      "callees; red more in B, blue less, none within the error (95 %).</p>\n",
      comparison.absolute ? "values in " + EscapedHtml(comparison.sides[0].unit)
                          : "percent of all that was in methods");
  BeginDifferences("Contexts", comparison.absolute, "method &lt; callers", out);
  for (size_t i = 0; i < std::min(most, comparison.contexts.size()); ++i) {
    PrintDifferenceCells(comparison, tree.contexts[comparison.contexts[i].id].self, out);
    PrintPathCell(tree, comparison.contexts[i].id, out);
    out.Text("</tr>\n");
  }
  EndTable(out);
  BeginDifferences("Methods", comparison.absolute, "method", out);
  for (size_t i = 0; i < std::min(most, comparison.methods.size()); ++i) {
    PrintDifferenceCells(comparison, tree.methods[comparison.methods[i].id].self, out);
    out.Print("<td title=\"{0}\">{0}</td></tr>\n", ShownName(tree, comparison.methods[i].id));
  }
  EndTable(out);
  CallTable(comparison, most, out);
  out.Text("<h2>Calling contexts, with callees: A %, B %</h2>\n<div class=\"scroll\">\n");
  const auto weight = [&](model::NodeIndex i) {
    return std::max(ShareAt(comparison, i, 0), ShareAt(comparison, i, 1));
  };
  for (const model::NodeIndex row : TreeRows(tree, weight).Take())
    DifferenceRow(comparison, row, out);
  out.Text("</div>\n");
  EndPage(out);
}

}  // namespace jprof::reports
