// Prints the labels of a profile, and for each how often it calls each method (docs/REPORTS.md).
#include <algorithm>
#include <cmath>

#include "model/sums/label_sums.h"
#include "reports/print/formats.h"
#include "reports/quality/quality_of.h"
#include "reports/report_list.h"
#include "reports/tree/header.h"
#include "reports/tree/metric_head.h"
#include "reports/tree/outline.h"

namespace jprof::reports {
namespace {

constexpr size_t kMethodsInText = 5;  // of each label
constexpr std::string_view kNoLabel = "(no label)";

// A row as the columns' getters see it: a label, or a method below it.
struct ShownLabel {
  const model::LabelSum& label;
  const model::MethodSum* method;  // null for the label itself
  std::string_view label_name;     // without "label "
  std::string_view name;           // of the method; empty for the label
  std::string_view text;           // what the column NAME has
  char type;
  double whole;

  const std::vector<model::Cell>& self() const {
    return method != nullptr ? method->self : label.self;
  }
  uint64_t calls() const { return method != nullptr ? method->calls : label.calls; }
};
using LabelColumns = Columns<ShownLabel>;

// Returns how often the method, or any method, was called each time that the label was set.
Value PerSet(const ShownLabel& row) {
  if (row.label.sets == 0) return Value::Missing();
  return Value::Fixed(static_cast<double>(row.calls()) / static_cast<double>(row.label.sets), 2);
}

void AddMetrics(LabelColumns& columns, const model::Forest& forest) {
  for (size_t m = 0; m < forest.metrics.size(); ++m) {
    const model::MetricTotals& metric = forest.metrics[m];
    const std::string suffix = m == 0 ? "" : "-" + std::to_string(m);
    columns.Add(
        kPeople,
        {(metric.info.is_samples() ? "SAMPLES" : "SELF") + suffix, ShowsDurations(metric) ? 8 : 15},
        [&metric, m](const ShownLabel& row) { return BaseValue(metric, row.self()[m]); });
    columns.Add(kCsv, {fmt::format("base:{}", metric.info.name)},
                [&metric, m](const ShownLabel& row) {
                  return Value::Number(model::InUnit(metric, row.self()[m].base()));
                });
  }
  columns.Add(kJson,
              {.name = "base", .shape = Column::Shape::kList, .cells = forest.metrics.size()},
              [&forest](const ShownLabel& row, size_t m) {
                return Value::Number(model::InUnit(forest.metrics[m], row.self()[m].base()));
              });
}

LabelColumns LabelColumnsOf(const model::Forest& forest, const Options& options) {
  LabelColumns columns(EntryOf(options.format).view);
  constexpr unsigned kData = kCsv | kJson;
  const auto sets = [](const ShownLabel& row) {
    return row.label.label != profile::kRootMethod ? Value::Integer(row.label.sets)
                                                   : Value::Missing();
  };
  const auto calls = [](const ShownLabel& row) { return Value::Integer(row.calls()); };
  columns.Add(kPeople, {"%", 6}, [](const ShownLabel& row) {
    const double own = row.self().empty() ? static_cast<double>(row.calls()) : row.self()[0].base();
    return Value::Fixed(row.whole > 0 ? std::max(0.0, 100 * own / row.whole) : 0, 2);
  });
  AddMetrics(columns, forest);
  columns.Add(kData, {"label"}, [](const ShownLabel& row) {
    return row.label.label == profile::kRootMethod ? Value::Missing() : Value::Text(row.label_name);
  });
  columns.Add(kData, {"type"}, [](const ShownLabel& row) {
    return row.method != nullptr ? Value::Text({&row.type, 1}) : Value::Missing();
  });
  columns.Add(kData, {"method"}, [](const ShownLabel& row) {
    return row.method != nullptr ? Value::Text(row.name) : Value::Missing();
  });
  columns.Add(kPeople, {"SET", 10}, [sets](const ShownLabel& row) {
    return row.method == nullptr ? sets(row) : Value::Missing();
  });
  columns.Add(kData, {"set"}, sets);
  columns.Add(kPeople, {"CALLS", 12}, calls);
  columns.Add(kData, {"calls"}, calls);
  columns.Add(kPeople, {"PER-SET", 9}, PerSet);
  columns.Add(kData, {"per_set"}, PerSet);
  columns.Add(kPeople, {"NAME"}, [](const ShownLabel& row) { return Value::Text(row.text); });
  return columns;
}

// Returns what precedes the text in the name of a label.
std::string_view WithoutKind(std::string_view name) {
  constexpr std::string_view kKind = "label ";
  return name.starts_with(kKind) ? name.substr(kKind.size()) : name;
}

void WriteLabel(model::Forest& forest, const model::LabelSum& sum, size_t most, double whole,
                const Options& options, LabelColumns& columns, TableWriter& writer) {
  const bool is_none = sum.label == profile::kRootMethod;
  const std::string label(is_none ? "" : WithoutKind(forest.names.Of(sum.label)));
  const std::string shown = is_none ? std::string(kNoLabel) : "@:label " + label;
  writer.Row(columns.Of({sum, nullptr, label, "", shown, '@', whole}));
  for (const model::MethodSum& method : std::span(sum.methods).first(most)) {
    const std::string name(forest.names.Of(method.method));
    const std::string text = "  " +
                             forest.names.Mark(method.method, method.type, options.static_letters) +
                             std::string(forest.names.In(options.names, method.method));
    const char type = forest.names.LetterOf(method.method, method.type, options.static_letters);
    writer.Row(columns.Of({sum, &method, label, name, text, type, whole}));
  }
}

Result<void> NoLabels(const model::Source& source) {
  if (const profile::Window* const window = source.reader.window()) {
    return WrongUse("{}: no label was set and no work below one was done in the window {}",
                    source.reader.shown(), window->Text());
  }
  return WrongUse(
      "{} has no labels: the program sets none, or was not recorded by calltree, callflow, objects "
      "or locks (docs/LABELS.md); jprof calltree --label-from METHOD makes labels of arguments",
      source.reader.shown());
}

}  // namespace

Result<void> PrintLabels(model::Source& source, const Options& options, Output& out) {
  Result<model::Forest> forest = model::LoadForest(source, options);
  if (!forest) return std::unexpected(forest.error());
  const std::vector<model::LabelSum> sums = model::SumByLabel(*forest);
  if (sums.empty()) return NoLabels(source);
  const size_t shown = options.fits_screen() ? std::min(sums.size(), kScreenRows) : sums.size();
  const Layout layout = {
      .head = {.text =
                   [&](Output& text) {
                     Head head = ForestHead(source, *forest, "labels");
                     head.width = options.width;
                     PrintHead(head, QualityOf(source, *forest), text);
                     text.Text("\n");
                   },
               .json =
                   [&](JsonWriter& json) {
                     JsonMetrics(*forest, json);
                     JsonLosses(source, QualityOf(source, *forest), json);
                     JsonRun(source, "labels", json);
                   }},
      .tail = {.text = [&](Output& text) { text.Text(MoreText(sums.size() - shown, "label")); }},
      .rows = "labels",
      .width = options.width,
      .legend = options.legend};
  LabelColumns columns = LabelColumnsOf(*forest, options);
  const auto writer = EntryOf(options.format).make(layout, out);
  writer->Begin(columns.columns());
  const double whole = model::WholeOf(*forest);
  for (const model::LabelSum& sum : std::span(sums).first(shown)) {
    const size_t most =
        options.fits_screen() ? std::min(sum.methods.size(), kMethodsInText) : sum.methods.size();
    WriteLabel(*forest, sum, most, whole, options, columns, *writer);
  }
  writer->End();
  return {};
}

}  // namespace jprof::reports
