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
#include "reports/tree/collapsed.h"

namespace jprof::reports {
namespace {

std::string RunText(const model::RunSummary& summary) {
  std::string text = summary.how;
  const profile::Run& run = summary.run;
  if (run.wall_seconds) text += fmt::format(", {:.3f} s elapsed", *run.wall_seconds);
  if (run.cpu_seconds) {
    text += fmt::format(", {:.3f} s CPU", *run.cpu_seconds);
  } else if (summary.cpu_seconds > 0) {
    text += fmt::format(", {:.3f} s CPU of Java threads", summary.cpu_seconds);
  }
  if (run.exit_status) text += fmt::format(", exit status {}", *run.exit_status);
  if (run.output == profile::Run::Output::kEqual) text += ", same output";
  if (run.output == profile::Run::Output::kDiffers) text += ", OTHER OUTPUT";
  return text;
}

void PrintRuns(const model::CombinedView& view, Output& out) {
  out.Print(" {:<9} {}: {} calls of {} methods in {} contexts\n", view.counted.run.profile,
            RunText(view.counted), view.counted.calls, view.counted.methods, view.counted_contexts);
  for (const std::string& note : view.counted.notes)
    out.Warning(fmt::format("           {}\n", note));
  for (const model::RunSummary& summary : view.sampled) {
    out.Print(" {:<9} {}: {} samples, {} methods\n", summary.run.profile, RunText(summary),
              model::Rounded(summary.samples), summary.methods);
    for (const std::string& note : summary.notes) out.Warning(fmt::format("           {}\n", note));
  }
}

void PrintDifferences(const model::CombinedView& view, Output& out) {
  constexpr size_t kShown = 5;
  if (view.differences.empty()) {
    out.Text(" runs      no difference found\n");
    return;
  }
  for (size_t i = 0; i < std::min(kShown, view.differences.size()); ++i)
    out.Warning(fmt::format(" {:<9} {}\n", i == 0 ? "differ" : "", view.differences[i].text));
  if (view.differences.size() > kShown)
    out.Print("           and {} smaller differences: --format json lists all\n",
              view.differences.size() - kShown);
}

void PrintHead(const model::Combined& combined, const model::CombinedView& view,
               const Options& options, Output& out) {
  out.Bold(fmt::format("jprof combined of {}\n", profile::CleanText(combined.directory)));
  const std::string command = model::CommandText(combined.meta.command);
  out.Print(" command   {}\n", command.size() > 200 ? command.substr(0, 200) + "..." : command);
  for (const std::string& note : combined.meta.notes)
    out.Warning(fmt::format("           {}\n", note));
  PrintRuns(view, out);
  PrintDifferences(view, out);
  out.Print(
      " matched   {:.1f} % of samples in contexts that the counted run did not see; {:.1f} % "
      "outside Java methods\n",
      100 * view.uncounted, 100 * view.outside);
  out.Print("           {} contexts in both; {:.1f} % of calls in contexts without a sample\n",
            view.common_contexts, 100 * view.calls_unsampled);
  if (view.times->knows_runs()) {
    out.Print(
        " interval  covers counting statistics and the difference between runs: {:.1f} % of the "
        "total, {:.1f} % of a context's share\n",
        100 * view.times->relative_total(), 100 * view.times->relative_share());
  } else {
    out.Warning(
        " interval  counting statistics only: with one "
        "sampled run the difference between runs is unknown\n");
  }
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
  view.times->knows_runs() ? json.Precise(view.times->relative_total(), 4) : (void)json.Null();
  json.Key("relative_share_spread");
  view.times->knows_runs() ? json.Precise(view.times->relative_share(), 4) : (void)json.Null();
  json.Member("calibrated", view.calibrated);
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

Result<void> PrintCombined(model::Combined& combined, const Options& options, Output& out) {
  if (auto offered = CheckOffered("combined", kTreeFormats, options.format); !offered)
    return offered;
  Result<model::CombinedView> view = model::LoadCombined(combined);
  if (!view) return std::unexpected(view.error());
  OrderCombined(view->tree, options);
  if (!EntryOf(options.format).head) RemarkNotes(combined, *view, out);
  if (options.format == Format::kCollapsed) {
    PrintCollapsedTimes(*view, options, out);
    return {};
  }
  CombinedColumns columns(EntryOf(options.format).view);
  CombinedTexts texts;
  AddCombinedColumns(*view, options.names, texts, columns);
  double percent = 0;
  const Layout layout = {
      .head = {.text = [&](Output& to) { PrintHead(combined, *view, options, to); },
               .json = [&](JsonWriter& json) { JsonHead(combined, *view, json); }},
      .tail = {.text = [&](Output& to) { to.Text(HiddenText(percent)); }},
      .rows = "nodes",
      .width = options.width,
      .legend = options.legend};
  const auto writer = EntryOf(options.format).make(layout, out);
  writer->Begin(columns.columns());
  percent = VisitCombined(*view, options, [&](const CombinedRow& row) {
    writer->Row(columns.Of(row));
    return out.ok();
  });
  writer->End();
  return {};
}

}  // namespace jprof::reports
