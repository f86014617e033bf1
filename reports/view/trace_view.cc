// Writes the view of a trace: when each call was, and the tree of all its calls.
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "model/timeline/trace_timeline.h"
#include "model/tree/node.h"
#include "model/tree/trace_values.h"
#include "profile/files/printable_text.h"
#include "reports/quality/quality_of.h"
#include "reports/view/head.h"
#include "reports/view/time_columns.h"
#include "reports/view/views.h"

namespace jprof::reports {
namespace {

// Makes a tree from the events of each thread. The time between two events belongs to the call in
// which the thread was or, where events are missing, to the thread itself.
class TraceTree {
 public:
  TraceTree(const std::vector<std::string>& threads, ViewNames& names)
      : names_(names), states_(threads.size()) {
    for (uint32_t i = 0; i < threads.size(); ++i)
      states_[i].at = Add(model::kNoNode, names.Of(threads[i]), 'T', i);
  }

  void Add(uint32_t thread, const model::TimelineEvent& event) {
    ThreadState& state = states_[thread];
    if (state.ns) tree_.self[0][state.at] += static_cast<double>(event.ns - *state.ns);
    state.ns = event.ns;
    if (const auto* slice = std::get_if<model::SliceBegin>(&event.what)) {
      state.at = Enter(state.at, thread, *slice);
    } else if (std::holds_alternative<model::SliceEnd>(event.what)) {
      state.at = tree_.parent[state.at];
    }
  }

  const ViewTree& tree() const { return tree_; }

 private:
  struct ThreadState {
    uint32_t at = 0;             // the row of the innermost open call
    std::optional<uint64_t> ns;  // of the previous event
  };

  uint32_t Enter(uint32_t parent, uint32_t thread, const model::SliceBegin& slice) {
    const uint32_t name = names_.Of(slice);
    const uint32_t row = children_.Child(tree_.parent, parent, name);
    if (row == tree_.parent.size()) Add(parent, name, slice.type, thread);
    tree_.calls[row] += 1;
    return row;
  }

  uint32_t Add(uint32_t parent, uint32_t name, char type, uint32_t thread) {
    tree_.thread.push_back(thread);
    tree_.calls.push_back(0);
    tree_.self[0].push_back(0);
    return tree_.AddRow(parent, name, type);
  }

  SliceNames names_;
  ViewTree tree_{1};
  std::vector<ThreadState> states_;  // by thread
  model::ChildMap children_;         // by name
};

}  // namespace

Result<ViewData> ViewOfTrace(model::Source& source) {
  const auto timeline = model::OpenTimeline(source);
  if (!timeline) return std::unexpected(timeline.error());
  const std::vector<std::string> threads = ThreadTexts(source.reader);
  if (threads.empty())
    return WrongUse("{}: no thread was recorded: nothing to show", source.reader.shown());
  ViewData data("tree", source.reader.shown());
  ViewNames names;
  TraceTree tree(threads, names);
  const auto number = [](const model::Track& track) { return track.tid - 1; };
  const auto added = AddTimeline(
      **timeline, [&](const model::Track& track) { return threads[number(track)]; }, names, data,
      [&](const model::TimelineEvent& event) {
        tree.Add(number((*timeline)->tracks()[event.track]), event);
      });
  if (!added) return std::unexpected(added.error());
  DescribeRun(source, data);
  const model::TraceUnit unit = model::FirstMetric(source);
  DescribeQuality(QualityOf(source, unit, model::Names(source.reader)), data);
  data["metrics"].push_back({{"name", unit.info.name},
                             {"unit", unit.info.unit},
                             {"kind", "time"},
                             {"calibrated", unit.table != nullptr},
                             {"has_error", false}});
  for (const std::string& thread : threads) data["threads"].push_back(profile::CleanText(thread));
  data["trees"].push_back(Describe(tree.tree(), "", data));
  data["methods"] = data.AddNames(names.all());
  return data;
}

}  // namespace jprof::reports
