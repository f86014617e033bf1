// Prints exact calls and production times in one tree (docs/REPORTS.md).
#include "reports/combined/combined_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "model/tree/run_description.h"
#include "profile/files/printable_text.h"
#include "reports/combined/combined_columns.h"
#include "reports/combined/combined_hottest.h"
#include "reports/combined/combined_rows.h"
#include "reports/print/formats.h"
#include "reports/print/units.h"
#include "reports/quality/head.h"
#include "reports/quality/quality_of.h"
#include "reports/tree/collapsed.h"

namespace jprof::reports {
namespace {

void TextHead(const model::Combined& combined, const model::CombinedView& view,
              const Options& options, Output& out) {
  Head head = CombinedHead(combined, view);
  head.width = options.width;
  PrintHead(head, QualityOf(combined, view), out);
  PrintHottest(HottestOf(view, options), options, out);
  out.Text("\n");
}

void JsonRun(const model::RunSummary& summary, JsonWriter& json) {
  using enum profile::Run::Output;
  const profile::Run& run = summary.run;
  json.StartObject();
  json.Member("profile", run.profile);
  json.Member("how", summary.how);
  const auto number = [&](const char* key, const std::optional<double>& value) {
    json.Key(key);
    value ? json.Shortest(*value) : (void)json.Null();
  };
  number("wall_s", run.wall_seconds);
  number("cpu_s", run.cpu_seconds);
  json.FixedMember("java_cpu_s", summary.cpu_seconds, 6);
  json.Key("exit_status");
  run.exit_status ? json.Value(*run.exit_status) : (void)json.Null();
  json.Key("same_output");
  run.output == kUnknown ? (void)json.Null() : json.Value(run.output == kEqual);
  json.Member("methods", summary.methods);
  json.Member("calls", summary.calls);
  json.NumberMember("samples", summary.samples);
  json.StringsMember("notes", summary.notes);
  json.EndObject();
}

void JsonHead(const model::Combined& combined, const model::CombinedView& view, JsonWriter& json) {
  json.Member("report", "combined");
  json.Member("directory", combined.directory);
  json.Member("command", model::CommandText(combined.meta.command));
  json.Key("counted_run");
  JsonRun(view.counted, json);
  json.Key("sampled_runs");
  json.StartArray();
  for (const model::RunSummary& summary : view.sampled) JsonRun(summary, json);
  json.EndArray();
  json.Key("differences");
  json.StartArray();
  for (const model::RunDifference& difference : view.differences) json.String(difference.text);
  json.EndArray();
  json.FixedMember("uncounted_share", view.uncounted, 6);
  json.FixedMember("outside_share", view.outside, 6);
  json.FixedMember("unsampled_calls_share", view.calls_unsampled, 6);
  json.Member("generated_calls", view.tree.folded.calls);
  json.NumberMember("generated_samples", view.tree.folded.samples);
  json.Key("relative_total_spread");
  json.Precise(view.times->spreads().total.relative, 4);
  json.Key("relative_share_spread");
  json.Precise(view.times->spreads().share.relative, 4);
  json.Member("calibrated", view.calibrated);
  JsonQuality(QualityOf(combined, view), json);
}

void RemarkNotes(const model::Combined& combined, const model::CombinedView& view, Output& out) {
  for (const std::string& note : combined.meta.notes) out.Remark(note);
  const auto remark = [&out](const model::RunSummary& summary) {
    for (const std::string& note : summary.notes)
      out.Remark(fmt::format("{}: {}", summary.run.profile, note));
  };
  remark(view.counted);
  std::ranges::for_each(view.sampled, remark);
}

// Prints one line per context with its own time in microseconds.
void PrintCollapsedTimes(const model::CombinedView& view, const Options& options, Output& out) {
  CollapsedStacks stacks(out);
  VisitCombined(view, options, [&](const CombinedRow& row) {
    std::string_view name = row.name;
    if (row.is_java && row.level > 0 && !name.starts_with('('))
      name = name.substr(0, name.find('('));
    stacks.Add(row.level, std::string(name), row.times.own.value / 1e3);
    return out.ok();
  });
}

}  // namespace

Head CombinedHead(const model::Combined& combined, const model::CombinedView& view) {
  double samples = 0;
  for (const model::RunSummary& run : view.sampled) samples += run.samples;
  const model::Estimate time = view.times->Of(view.tree.AllSamples(0), model::Part::kAll);
  return {
      .report = "combined",
      .of = combined.directory,
      .directory = combined.directory,
      .lines = {
          {"command", HeadCommand(combined.meta.command)},
          {"counted",
           fmt::format("{} of {} in {}; {}", Counted(view.counted.calls, "call", "calls"),
                       Counted(view.counted.methods, "method", "methods"),
                       Counted(view.counted_contexts, "context", "contexts"), view.counted.how)},
          {"sampled", fmt::format("{}, {} samples; {}", Counted(view.sampled.size(), "run", "runs"),
                                  model::Rounded(samples), view.sampled.front().how)},
          {"time", fmt::format("{} +- {} (95 %) of CPU time, mean of a run", Duration(time.value),
                               Duration((time.high - time.low) / 2))}}};
}

Result<void> PrintCombined(model::Combined& combined, const Options& options, Output& out) {
  Result<model::CombinedView> view = model::LoadCombined(combined);
  if (!view) return std::unexpected(view.error());
  return PrintCombined(combined, *view, options, out);
}

Result<void> PrintCombined(const model::Combined& combined, model::CombinedView& view,
                           const Options& options, Output& out) {
  if (auto offered = CheckOffered("combined", kTreeFormats, options.format); !offered)
    return offered;
  OrderCombined(view.tree, options);
  if (!EntryOf(options.format).head) RemarkNotes(combined, view, out);
  if (options.format == Format::kCollapsed) {
    PrintCollapsedTimes(view, options, out);
    return {};
  }
  CombinedColumns columns(EntryOf(options.format).view);
  CombinedTexts texts;
  AddCombinedColumns(view, texts, columns);
  double percent = 0;
  const Layout layout = {
      .head = {.text = [&](Output& to) { TextHead(combined, view, options, to); },
               .json = [&](JsonWriter& json) { JsonHead(combined, view, json); }},
      .tail = {.text = [&](Output& to) { to.Text(HiddenText(percent)); }},
      .rows = "nodes",
      .width = options.width,
      .legend = options.legend};
  const auto writer = EntryOf(options.format).make(layout, out);
  writer->Begin(columns.columns());
  percent = VisitCombined(view, options, [&](const CombinedRow& row) {
    writer->Row(columns.Of(row));
    return out.ok();
  });
  writer->End();
  return {};
}

}  // namespace jprof::reports
