// The view of one profile's call tree, and of two.
#include <algorithm>
#include <cmath>

#include "reports/compare.h"
#include "reports/view/head.h"
#include "reports/view/view.h"

namespace jprof::reports {
namespace {

using nlohmann::json;

// A thread's name for people.
std::string ThreadText(const profile::Thread& thread) {
  if (thread.record.tid == 0) return thread.name;
  return fmt::format("{} (tid {})", thread.name, thread.record.tid);
}

void AddRows(const Source& source, Forest& forest, ViewNames& names, ViewTree& tree) {
  std::vector<std::string> threads;
  for (const profile::Thread& thread : source.reader.threads())
    threads.push_back(ThreadText(thread));
  const bool counted = forest.calls > 0 || forest.samples == 0;
  for (size_t i = 0; i < forest.rows.rows.size(); ++i) {
    const Row& row = forest.rows.rows[i];
    const std::string_view name = row.method == profile::kRootMethod
                                      ? std::string_view(threads[row.thread])
                                      : forest.names.Of(row.method);
    tree.AddRow(row.parent, names.Of(name), forest.names.LetterOf(row.method, row.type, false));
    tree.thread.push_back(row.thread);
    if (counted) tree.calls.push_back(static_cast<double>(row.calls));
    for (size_t m = 0; m < forest.metrics.size(); ++m) {
      const MetricTotals& metric = forest.metrics[m];
      const Cell& cell = forest.rows.cell(i, m);
      tree.self[m].push_back(InUnit(metric, cell.base()));
      if (metric.calibrated || metric.info.is_samples())
        tree.error[m].push_back(static_cast<float>(InUnit(metric, cell.error)));
    }
  }
}

// About one standard deviation of what one profile has in a context.
float ErrorOf(const Amount& amount) {
  if (amount.error > 0 || amount.samples <= 0) return static_cast<float>(amount.error);
  return static_cast<float>(std::abs(amount.value) / std::sqrt(amount.samples));
}

ViewTree SideOf(const JointTree& joint, size_t side) {
  ViewTree tree(1);
  for (const Context& context : joint.contexts) {
    tree.self[0].push_back(context.self[side].value);
    tree.error[0].push_back(ErrorOf(context.self[side]));
  }
  return tree;
}

void DescribeSide(const Side& side, const char* label, ViewData& data) {
  data.Fact(label, fmt::format("{}: {} ({})", side.directory, side.how, side.metric));
  for (const std::string& note : side.notes) data.Loss(fmt::format("{}: {}", label, note));
}

}  // namespace

Result<void> PrintView(Source& source, Output& out) {
  Result<Forest> forest = LoadForest(source, {});
  if (!forest) return std::unexpected(forest.error());
  ViewData data("tree", source.reader.directory());
  DescribeRun(source, data);
  DescribeUncertainty(source, *forest, data);
  ViewNames names;
  ViewTree tree(forest->metrics.size());
  AddRows(source, *forest, names, tree);
  for (const MetricTotals& metric : forest->metrics)
    data["metrics"].push_back(DescribeMetric(metric));
  for (const profile::Thread& thread : source.reader.threads())
    data["threads"].push_back(profile::CleanText(ThreadText(thread)));
  data["trees"].push_back(Describe(tree, "", data));
  data["methods"] = data.AddNames(names.all());
  return data.Print(out);
}

Result<void> PrintView(Source& before, Source& after, Output& out) {
  const auto comparison = CompareTwo(before, after, {.absolute = true});
  if (!comparison) return std::unexpected(comparison.error());
  const Side& side = comparison->sides[0];
  ViewData data("compare",
                fmt::format("{} and {}", before.reader.directory(), after.reader.directory()));
  DescribeSide(comparison->sides[0], "old", data);
  DescribeSide(comparison->sides[1], "new", data);
  ViewNames names;
  const uint32_t all = names.Of("(all threads)");
  std::vector<uint32_t> place;
  for (const std::string& name : comparison->tree.names) place.push_back(names.Of(name));
  ViewTree first = SideOf(comparison->tree, 0);
  const std::vector<Context>& contexts = comparison->tree.contexts;
  for (size_t i = 0; i < contexts.size(); ++i) {
    if (i == 0) {
      first.AddRow(kNoRow, all, 'T');
    } else {
      first.AddRow(contexts[i].parent, place[contexts[i].name], ' ');
    }
  }
  data["metrics"].push_back({{"name", side.metric},
                             {"unit", side.unit},
                             {"kind", side.unit == "ns" ? "time" : "count"},
                             {"has_error", true}});
  data["threads"].push_back("(all threads)");
  data["trees"].push_back(Describe(first, "old", data));
  data["trees"].push_back(Describe(SideOf(comparison->tree, 1), "new", data));
  data["methods"] = data.AddNames(names.all());
  return data.Print(out);
}

}  // namespace jprof::reports
