// Writes the view of an instruction trace: the tree of its calls.
#include "model/timeline/arc_timeline.h"
#include "reports/itrace/arc.h"
#include "reports/quality/quality_of.h"
#include "reports/view/head.h"
#include "reports/view/time_columns.h"
#include "reports/view/view_data.h"
#include "reports/view/views.h"

namespace jprof::reports {
namespace {

using nlohmann::json;

constexpr uint32_t kListedFunctions = 40;
constexpr size_t kMostListedRows = 200'000;  // a function has a row in each context
constexpr size_t kLongestListing = 1 << 20;

struct ArcMetric {
  const char* name;
  uint64_t model::ArcNode::*member;
};
constexpr ArcMetric kArcMetrics[] = {{"instructions", &model::ArcNode::self},
                                     {"system calls", &model::ArcNode::system_calls},
                                     {"repeats", &model::ArcNode::repeats}};

void DescribeTrace(const model::ArcRecording& arcs, const model::ArcTrace& trace, ViewData& data) {
  const profile::RecordingMeta& meta = arcs.recording.meta;
  data.Fact("command", meta.command);
  data.Fact("engine", meta.sampling);
  data.Fact("machine", meta.platform);
  data.Fact("traced", fmt::format("{:.3f} s: {} instructions, {} branches, {} system calls, {} "
                                  "signals",
                                  model::ArcSeconds(arcs), trace.instructions, trace.records,
                                  trace.system_calls, trace.signals));
  const model::ArcNotes notes = model::NotesOf(arcs, trace);
  for (const std::string& loss : notes.losses) data.Loss(loss);
  for (const std::string& note : notes.notes) data.Note(note);
  if (trace.left > 0)
    data.Note(fmt::format("{} calls ended without a return (longjmp, exceptions)", trace.left));
}

// Makes the rows of the page from the nodes of the trace.
ViewTree RowsOf(const model::ArcRecording& arcs, const model::ArcTrace& trace, ViewNames& names) {
  ViewTree tree(std::size(kArcMetrics));
  std::vector<uint32_t> places;  // from function to name
  for (const model::ArcFunction& function : arcs.code->functions())
    places.push_back(names.Of(function.name));
  for (const model::ArcNode& node : trace.nodes) {
    if (node.parent == model::kNoNode) {
      tree.AddRow(model::kNoNode, names.Of(model::ArcThreadText(arcs, trace.threads[node.thread])),
                  'T');
    } else {
      const char letter = arcs.code->functions()[node.function].letter;
      tree.AddRow(node.parent, places[node.function], letter == '-' ? 'O' : letter);
    }
    tree.thread.push_back(node.thread);
    tree.calls.push_back(static_cast<double>(node.calls));
    for (size_t m = 0; m < std::size(kArcMetrics); ++m)
      tree.self[m].push_back(static_cast<double>(node.*kArcMetrics[m].member));
  }
  return tree;
}

// Returns JSON: the listings of the hottest functions, each once, and the number of the text by
// row.
std::string ListingsOf(model::ArcRecording& arcs, const model::ArcTrace& trace,
                       const model::RunCounts& counts, ViewData& data) {
  std::unordered_map<uint32_t, size_t> texts_of;
  std::vector<std::string> texts;
  const auto listed =
      ListArcFunctions(arcs, trace, counts, {.top = kListedFunctions},
                       [&](uint32_t function, const std::string& text) {
                         texts_of[function] = texts.size();
                         texts.push_back(text.size() <= kLongestListing
                                             ? text
                                             : text.substr(0, kLongestListing) + "\n(cut off)\n");
                       });
  if (!listed) data.Note("no instructions: " + listed.error().message);
  json rows = json::object();
  for (size_t i = 0; i < trace.nodes.size() && rows.size() < kMostListedRows; ++i) {
    const auto text = texts_of.find(trace.nodes[i].function);
    if (text != texts_of.end()) rows[std::to_string(i)] = text->second;
  }
  return json({{"rows", rows}, {"texts", texts}})
      .dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

Result<ViewData> ViewOf(model::ArcRecording& arcs) {
  model::RunCounts counts(*arcs.code);
  const model::ArcTrace trace =
      model::WalkArcs(arcs, {}, [&counts](const model::StraightRun& run) { counts.Add(run); });
  if (trace.instructions == 0)
    return WrongUse("{}: no instructions were traced: nothing to show", arcs.directory);
  ViewData data("tree", arcs.directory);
  DescribeTrace(arcs, trace, data);
  DescribeQuality(QualityOf(arcs, trace), data);
  ViewNames names;
  const ViewTree tree = RowsOf(arcs, trace, names);
  const auto timeline = model::OpenTimeline(arcs);
  if (!timeline) return std::unexpected(timeline.error());
  const auto text = [&](const model::Track& track) {
    return model::ArcThreadText(arcs, {static_cast<uint32_t>(track.pid), track.tid});
  };
  if (const auto times = AddTimeline(**timeline, text, names, data); !times)
    return std::unexpected(times.error());
  const std::string listings = ListingsOf(arcs, trace, counts, data);
  for (const ArcMetric& metric : kArcMetrics)
    data["metrics"].push_back({{"name", metric.name}, {"unit", ""}, {"kind", "count"}});
  for (const model::ArcThread& thread : trace.threads)
    data["threads"].push_back(model::ArcThreadText(arcs, thread));
  data["trees"].push_back(Describe(tree, "", data));
  data["methods"] = data.AddNames(names.all());
  data["annotations"] = data.AddText(listings);
  return data;
}

}  // namespace jprof::reports
