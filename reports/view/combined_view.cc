// The view of a combined profile: exact calls and production times.
#include "reports/combined.h"
#include "reports/view/head.h"
#include "reports/view/view.h"

namespace jprof::reports {
namespace {

// Metrics of the tree.
enum { kTime, kSamples, kMetricCount };

void AddRows(const CombinedView& view, const std::vector<uint32_t>& names, ViewTree& tree) {
  const CombinedTree& combined = view.tree;
  for (uint32_t i = 0; i < combined.contexts.size(); ++i) {
    const CombinedContext& context = combined.contexts[i];
    if (i == 0) {
      tree.AddRow(kNoRow, 0, 'T');
    } else {
      tree.AddRow(context.parent, names[context.name], context.type);
    }
    const Estimate own = TimesOf(view, i).own;
    tree.calls.push_back(static_cast<double>(context.calls));
    tree.self[kTime].push_back(own.value);
    tree.error[kTime].push_back(static_cast<float>((own.high - own.low) / 2 / kDeviations95));
    tree.self[kSamples].push_back(Sum(combined.OwnSamples(i)));
  }
}

void DescribeRuns(const CombinedView& view, ViewData& data) {
  data.Fact("counted", fmt::format("{}: {} calls of {} methods", view.counted.how,
                                   view.counted.calls, view.counted.methods));
  for (const RunFacts& run : view.sampled)
    data.Fact("sampled", fmt::format("{}: {:.0f} samples", run.how, run.samples));
  for (const std::string& note : view.counted.notes) data.Loss("counted: " + note);
  for (const RunFacts& run : view.sampled)
    for (const std::string& note : run.notes) data.Loss(run.run.profile + ": " + note);
  for (const RunDifference& difference : view.differences) data.Note(difference.text);
  data.Note(fmt::format("{:.1f} % of samples are in contexts that the counted run did not see",
                        100 * view.uncounted));
  if (view.sampled.size() == 1)
    data.Note("one sampled run: errors are without the differences between runs");
}

}  // namespace

Result<void> PrintView(Combined& combined, Output& out) {
  const auto view = LoadCombined(combined);
  if (!view) return std::unexpected(view.error());
  ViewData data("combined", combined.directory);
  data.Fact("command", CommandText(combined.meta.command));
  data.Fact("JVM", combined.counted.reader.meta().jvm.Title());
  DescribeRuns(*view, data);
  ViewNames names;
  names.Of("(all threads)");
  std::vector<uint32_t> place;
  for (const std::string& name : view->tree.names) place.push_back(names.Of(name));
  ViewTree tree(kMetricCount);
  AddRows(*view, place, tree);
  data["metrics"] = {
      {{"name", "production time"}, {"unit", "ns"}, {"kind", "time"}, {"has_error", true}},
      {{"name", "samples"}, {"unit", "samples"}, {"kind", "samples"}}};
  data["threads"].push_back("(all threads)");
  data["trees"].push_back(Describe(tree, "", data));
  data["methods"] = data.AddNames(names.all());
  return data.Print(out);
}

}  // namespace jprof::reports
