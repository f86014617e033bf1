// Writes the view of a combined profile: exact calls and production times.
#include <cmath>
#include <span>
#include <utility>

#include "model/combined/combined.h"
#include "model/tree/run_description.h"
#include "reports/quality/quality_of.h"
#include "reports/view/head.h"
#include "reports/view/line_view.h"
#include "reports/view/views.h"

namespace jprof::reports {
namespace {

// The metrics of the tree.
enum { kTime, kSamples, kMetricCount };

// Returns the mean time of a run, in ns, from the samples of all runs, and its standard deviation
// by counting statistics. Both are 0 without samples.
std::pair<double, double> TimeOf(std::span<const double> samples,
                                 std::span<const double> period_ns) {
  double time = 0, variance = 0;
  for (size_t run = 0; run < samples.size(); ++run) {
    time += samples[run] * period_ns[run];
    variance += samples[run] * period_ns[run] * period_ns[run];
  }
  const auto runs = static_cast<double>(samples.size());
  return {time / runs, std::sqrt(variance) / runs};
}

void AddRows(const model::CombinedTree& combined, const std::vector<uint32_t>& names,
             ViewTree& tree) {
  for (model::NodeIndex i = 0; i < combined.contexts.size(); ++i) {
    const model::CombinedContext& context = combined.contexts[i];
    if (i == 0) {
      tree.AddRow(model::kNoNode, 0, 'T');
    } else {
      tree.AddRow(context.parent, names[context.name], context.type);
    }
    const auto [time, error] = TimeOf(combined.OwnSamples(i), combined.period_ns);
    tree.calls.push_back(static_cast<double>(context.calls));
    tree.self[kTime].push_back(time);
    tree.error[kTime].push_back(static_cast<float>(error));
    const double samples = model::Sum(combined.OwnSamples(i));
    tree.self[kSamples].push_back(samples);
    tree.error[kSamples].push_back(static_cast<float>(std::sqrt(samples)));
  }
}

// Returns a context without samples, or 0 if all have some.
model::NodeIndex LeastContext(const model::CombinedTree& tree) {
  for (model::NodeIndex i = 1; i < tree.contexts.size(); ++i)
    if (model::Sum(tree.AllSamples(i)) == 0) return i;
  return 0;
}

void DescribeRuns(const model::CombinedView& view, ViewData& data) {
  data.Fact("counted", fmt::format("{}: {} calls of {} methods", view.counted.how,
                                   view.counted.calls, view.counted.methods));
  for (const model::RunSummary& run : view.sampled)
    data.Fact("sampled", fmt::format("{}: {:.0f} samples", run.how, run.samples));
  for (const std::string& note : view.counted.notes) data.Loss("counted: " + note);
  for (const model::RunSummary& run : view.sampled)
    for (const std::string& note : run.notes) data.Loss(run.run.profile + ": " + note);
  for (const model::RunDifference& difference : view.differences) data.Note(difference.text);
  if (view.tree.folded.calls > 0) {
    data.Note(fmt::format("{} calls of methods that the VM generates are not shown",
                          view.tree.folded.calls));
  }
  data.Note(fmt::format("{:.1f} % of samples are in contexts that the counted run did not see",
                        100 * view.uncounted));
  data.Note(
      fmt::format("a context without samples took less than {} a run (95 %)",
                  model::AmountIn("ns", model::TimesOf(view, LeastContext(view.tree)).own.high)));
  data.Note(
      "a method that was or may have been inlined can have had a part of its caller's own time: "
      "jprof report combined contains it in +-");
}

}  // namespace

Result<ViewData> ViewOf(model::Combined& combined) {
  const auto view = model::LoadCombined(combined);
  if (!view) return std::unexpected(view.error());
  ViewData data("combined", combined.directory);
  data.Fact("command", model::CommandText(combined.meta.command));
  data.Fact("JVM", combined.counted.reader.meta().jvm.Title());
  DescribeRuns(*view, data);
  DescribeQuality(QualityOf(combined, *view), data);
  ViewNames names;
  names.Of("(all threads)");
  std::vector<uint32_t> place;
  for (const std::string& name : view->tree.names) place.push_back(names.Of(name));
  ViewTree tree(kMetricCount);
  AddRows(view->tree, place, tree);
  data["metrics"] = {{{"name", "production time"},
                      {"unit", "ns"},
                      {"kind", "time"},
                      {"period", view->tree.period_ns.front()},
                      {"period_unit", "ns"},
                      {"has_error", true}},
                     {{"name", "samples"},
                      {"unit", "samples"},
                      {"kind", "samples"},
                      {"period", view->tree.period_ns.front()},
                      {"period_unit", "ns"},
                      {"has_error", true}}};
  data["metrics"][kTime]["between_runs"] = {
      {"total", view->times->total_arm()},
      {"share", view->times->share_arm(model::Part::kAll)},
      {"own_share", view->times->share_arm(model::Part::kOwn)},
      {"dispersion", view->times->dispersion()}};
  data["threads"].push_back("(all threads)");
  data["trees"].push_back(Describe(tree, "", data));
  AddLines(combined, names, data);
  data["methods"] = data.AddNames(names.all());
  return data;
}

}  // namespace jprof::reports
