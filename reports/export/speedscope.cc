// Writes speedscope: one profile for each thread and measure, as a walk of the tree. Widths are
// values, not points in time: contexts are in the order in which they were first entered.
#include <utility>
#include <vector>

#include "model/tree/context_tree.h"
#include "reports/export/export_list.h"
#include "reports/export/stacks.h"
#include "reports/print/json_writer.h"

namespace jprof::reports {
namespace {

class SpeedscopeWriter {
 public:
  SpeedscopeWriter(const model::ContextTree& tree, const std::string& name, Output& out)
      : tree_(tree), name_(name), out_(out), json_(out) {}

  void Write() {
    json_.StartObject();
    json_.Member("$schema", "https://www.speedscope.app/file-format-schema.json");
    json_.Member("exporter", "jprof " + tree_.run.jprof);
    json_.Member("name", name_);
    WriteFrames();
    json_.Key("profiles");
    json_.StartArray();
    if (!tree_.measures.empty()) WriteMeasure(tree_.preferred);
    for (const size_t m : tree_.Sums()) {
      if (m != tree_.preferred) WriteMeasure(m);
    }
    if (written_ == 0) WriteEmpty();
    json_.EndArray();
    json_.Member("activeProfileIndex", 0);
    json_.EndObject();
    json_.Finish();
  }

 private:
  void WriteFrames() {
    json_.Key("shared");
    json_.StartObject();
    json_.Key("frames");
    json_.StartArray();
    for (const model::ExportFrame& frame : tree_.frames) {
      json_.StartRow();
      json_.Member("name", frame.full);
      json_.EndObject();
    }
    json_.EndArray();
    json_.EndObject();
  }

  // Writes the busiest thread first.
  void WriteMeasure(size_t m) {
    const std::vector<int64_t> inclusive = model::InclusiveAtLeast0(tree_, m);
    for (const model::NodeIndex root : tree_.roots) {
      if (inclusive[root] > 0 && out_.ok()) WriteThread(root, m, inclusive);
    }
  }

  void WriteThread(model::NodeIndex root, size_t m, const std::vector<int64_t>& inclusive) {
    const model::Measure& measure = tree_.measures[m];
    Begin(tree_.FrameOf(tree_.nodes[root]).full + ": " + measure.name,
          measure.unit == "count" ? "none" : measure.unit);
    int64_t at = 0;
    const auto self = [&](model::NodeIndex node) { return model::AtLeast0(tree_.Value(node, m)); };
    model::VisitNodes(
        tree_.nodes, root,
        [&](model::NodeIndex node) {
          if (inclusive[node] == 0) return false;
          if (node != root) Event('O', node, at);
          at = model::AddSaturating(at, self(node));
          return true;
        },
        [&](model::NodeIndex node) {
          if (inclusive[node] > 0 && node != root) Event('C', node, at);
        });
    End(at);
  }

  void WriteEmpty() {
    Begin("empty", "none");
    End(0);
  }

  void Begin(const std::string& name, const std::string& unit) {
    ++written_;
    json_.StartRow();
    json_.Member("type", "evented");
    json_.Member("name", name);
    json_.Member("unit", IsKnown(unit) ? unit : "none");
    json_.Member("startValue", 0);
    json_.Key("events");
    json_.StartArray();
  }
  void End(int64_t end) {
    json_.EndArray();
    json_.Member("endValue", end);
    json_.EndObject();
  }

  void Event(char type, model::NodeIndex node, int64_t at) {
    json_.StartRow();
    json_.Member("type", std::string_view(&type, 1));
    json_.Member("frame", IndexOf(tree_.nodes[node].frame));
    json_.Member("at", at);
    json_.EndObject();
  }

  static bool IsKnown(const std::string& unit) { return unit == "nanoseconds" || unit == "bytes"; }

  const model::ContextTree& tree_;
  const std::string& name_;
  Output& out_;
  JsonWriter json_;
  size_t written_ = 0;
};

}  // namespace

Result<void> WriteSpeedscope(const model::ContextTree& tree, const std::string& name, Output& out) {
  // speedscope visits its tree recursively, and a browser's stack ends between 2,000 and 3,000
  // levels.
  constexpr uint32_t kDeepest = 1000;
  return WriteFolded(tree, kDeepest, out, [&](const model::ContextTree& folded) -> Result<void> {
    SpeedscopeWriter(folded, name, out).Write();
    return {};
  });
}

}  // namespace jprof::reports
