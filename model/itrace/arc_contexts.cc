#include "model/itrace/arc_contexts.h"

#include <algorithm>

#include "model/tree/context_builder.h"
#include "model/tree/readable_name.h"
#include "profile/files/printable_text.h"

namespace jprof::model {
namespace {

class ArcContexts {
 public:
  ArcContexts(ArcRecording& arcs, bool merged)
      : arcs_(arcs), merged_(merged), trace_(WalkArcs(arcs)), builder_(tree_) {
    if (merged) trace_ = MergeThreads(trace_);
  }

  Result<ContextTree> Take(const std::string& metric) {
    if (auto added = AddMeasures(metric); !added) return std::unexpected(added.error());
    for (const ArcThread& thread : trace_.threads)
      tree_.threads.push_back(
          {merged_ ? "(all threads)" : ThreadName(arcs_, thread.tid), thread.tid});
    frame_of_.resize(arcs_.code->functions().size(), kNoFrame);
    for (const ArcNode& node : trace_.nodes) AddNode(node);
    LinkNodes(tree_.nodes);
    std::ranges::stable_sort(tree_.roots, std::greater(), [this](NodeIndex root) {
      return trace_.threads[IndexOf(tree_.nodes[root].thread)].instructions;
    });
    tree_.run = DescribeRun(arcs_, trace_);
    return std::move(tree_);
  }

 private:
  Result<void> AddMeasures(const std::string& metric) {
    constexpr std::pair<const char*, uint64_t ArcNode::*> kSums[] = {
        {"instructions", &ArcNode::self},
        {"system_calls", &ArcNode::system_calls},
        {"repeats", &ArcNode::repeats}};
    tree_.measures.push_back({"calls", "count", Measure::Kind::kCalls, 0, ""});
    members_.push_back(&ArcNode::calls);
    for (const auto& [name, member] : kSums) {
      if (!metric.empty() && metric != name) continue;
      tree_.measures.push_back({name, "count", Measure::Kind::kSum, 0, ""});
      members_.push_back(member);
    }
    if (members_.size() == 1) {
      return WrongUse(
          "a trace has no metric {}; choose one of: instructions, system_calls, repeats",
          profile::CleanText(metric));
    }
    tree_.preferred = 1;
    return {};
  }

  void AddNode(const ArcNode& node) {
    const bool is_thread = node.parent == kNoNode;
    const profile::ThreadIndex thread{node.thread};
    const char letter = arcs_.code->functions()[node.function].letter;
    builder_.AddNode(is_thread ? kNoNode : node.parent,
                     is_thread ? ThreadFrame(thread) : FrameOf(node.function), thread,
                     is_thread       ? 'T'
                     : letter == '-' ? 'O'
                                     : letter);
    for (const auto member : members_) tree_.values.push_back(CountOf(node.*member));
  }

  FrameIndex ThreadFrame(profile::ThreadIndex thread) {
    const ExportThread& of = tree_.threads[IndexOf(thread)];
    const std::string name = of.tid == 0 ? of.name : fmt::format("{} (tid {})", of.name, of.tid);
    return builder_.AddFrame({name, name, 0, ExportFrame::Kind::kThread});
  }

  FrameIndex FrameOf(uint32_t number) {
    FrameIndex& frame = frame_of_[number];
    if (frame != kNoFrame) return frame;
    const ArcFunction& function = arcs_.code->functions()[number];
    ExportFrame made = {.full = function.name, .readable = function.name};
    if (function.letter == 'F') {
      made.kind = ExportFrame::Kind::kNative;
      made.module = builder_.ModuleOf(function.module, "");
      if (!function.symbol.empty()) made.readable = function.symbol;
    } else {
      made.readable = ReadableMethod(function.name);
    }
    return frame = builder_.AddFrame(std::move(made));
  }

  ArcRecording& arcs_;
  bool merged_;
  ArcTrace trace_;
  ContextTree tree_;
  ContextBuilder builder_;
  std::vector<uint64_t ArcNode::*> members_;  // by measure
  std::vector<FrameIndex> frame_of_;          // from function to frame
};

}  // namespace

Result<ContextTree> LoadContexts(ArcRecording& arcs, const ForestOptions& options) {
  return ArcContexts(arcs, options.merged).Take(options.metric);
}

RunDescription DescribeRun(const ArcRecording& arcs, const ArcTrace& trace) {
  const profile::RecordingMeta& meta = arcs.recording.meta;
  ArcNotes notes = NotesOf(arcs, trace);
  notes.losses.insert(notes.losses.end(), notes.notes.begin(), notes.notes.end());
  return {.mode = "itrace",
          .command = meta.command,
          .machine = meta.platform,
          .pid = trace.threads.empty() ? 0 : trace.threads.front().pid,
          .start_unix_ns = std::min<uint64_t>(arcs.branches.header().start_unix_ns, INT64_MAX),
          .duration_ns = static_cast<uint64_t>(ArcSeconds(arcs) * 1e9),
          .notes = std::move(notes.losses)};
}

}  // namespace jprof::model
