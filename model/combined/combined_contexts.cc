#include "model/combined/combined_contexts.h"

#include <cmath>

#include "model/tree/context_builder.h"
#include "model/tree/readable_name.h"
#include "model/tree/run_description.h"
#include "model/values/whole_units.h"
#include "profile/files/printable_text.h"

namespace jprof::model {
namespace {

class CombinedContexts {
 public:
  CombinedContexts(const Combined& combined, const CombinedView& view)
      : combined_(combined), view_(view), builder_(tree_) {}

  ContextTree Take() {
    AddMeasures();
    tree_.threads.push_back({"(all threads)", 0});
    for (size_t i = 0; i < view_.tree.contexts.size(); ++i) AddContext(static_cast<NodeIndex>(i));
    LinkNodes(tree_.nodes);
    Describe();
    return std::move(tree_);
  }

 private:
  void AddMeasures() {
    using enum Measure::Kind;
    tree_.measures = {{"calls", "count", kCalls, 0, ""},
                      {"samples", "count", kSum, 0, ""},
                      {"time", "nanoseconds", kSum, 0, ""},
                      {"time_low", "nanoseconds", kBound, 0, ""},
                      {"time_high", "nanoseconds", kBound, 0, ""}};
    tree_.preferred = 2;
    if (view_.tree.has_times) {
      const char* name = view_.calibrated ? "counted_time" : "counted_time_raw";
      tree_.measures.push_back({name, "nanoseconds", kSum, 0, ""});
    }
  }

  void AddContext(NodeIndex index) {
    const CombinedContext& context = view_.tree.contexts[index];
    builder_.AddNode(index == 0 ? kNoNode : context.parent, FrameOf(index), {},
                     index == 0 ? Letter(FrameKind::kThread) : context.type);
    const Estimate time = TimesOf(view_, index).own;
    tree_.values.insert(
        tree_.values.end(),
        {CountOf(context.calls), samples_.Of(Sum(view_.tree.OwnSamples(index))),
         times_.Of(time.value), Rounded(std::floor(time.low)), Rounded(std::ceil(time.high))});
    if (view_.tree.has_times) tree_.values.push_back(counted_.Of(context.counted_ns));
  }

  FrameIndex FrameOf(NodeIndex index) {
    const CombinedContext& context = view_.tree.contexts[index];
    if (index == 0)
      return builder_.AddFrame({"(all threads)", "(all threads)", 0, ExportFrame::Kind::kThread});
    frame_of_.resize(view_.tree.names.size(), kNoFrame);
    FrameIndex& frame = frame_of_[context.name];
    if (frame != kNoFrame) return frame;
    const std::string text = profile::CleanText(view_.tree.names[context.name]);
    ExportFrame made = {.full = text.empty() ? "(unnamed)" : text};
    made.readable = context.is_java ? ReadableMethod(made.full) : made.full;
    if (context.type == 'K') {
      made.kind = ExportFrame::Kind::kKernel;
      made.module = builder_.ModuleOf("[kernel]", "");
    } else if (context.type == 'F') {  // the module is a part of the name
      made.kind = ExportFrame::Kind::kNative;
      made.module = builder_.ModuleOf("[native]", "");
    }
    return frame = builder_.AddFrame(std::move(made));
  }

  void Describe() {
    tree_.run = DescribeRun(combined_.counted);
    tree_.run.mode = "combined";
    std::vector<std::string>& notes = tree_.run.notes;
    std::vector<std::string> how = {"time: of the sampled runs; calls: of the counted run"};
    if (view_.tree.has_times)
      how.push_back(CorrectionNote("counted_time", view_.calibrated, combined_.counted));
    AddNotesBelow0(tree_, how);
    notes.insert(notes.begin(), how.begin(), how.end());
    for (const std::string& note : combined_.meta.notes) notes.push_back(profile::CleanText(note));
    for (const RunDifference& difference : view_.differences)
      notes.push_back(profile::CleanText(difference.text));
    for (const RunSummary& summary : view_.sampled) {
      for (const std::string& note : summary.notes)
        notes.push_back(profile::CleanText(summary.run.profile + ": " + note));
    }
    if (view_.tree.folded.calls > 0)
      notes.push_back(fmt::format("{} calls of methods that the VM generates are not shown",
                                  view_.tree.folded.calls));
  }

  const Combined& combined_;
  const CombinedView& view_;
  ContextTree tree_;
  ContextBuilder builder_;
  std::vector<FrameIndex> frame_of_;  // from name to frame
  WholeUnits samples_, times_, counted_;
};

}  // namespace

Result<ContextTree> LoadContexts(Combined& combined) {
  const Result<CombinedView> view = LoadCombined(combined);
  if (!view) return std::unexpected(view.error());
  return CombinedContexts(combined, *view).Take();
}

}  // namespace jprof::model
