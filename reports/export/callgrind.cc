// Writes callgrind: functions with their own costs and the costs of their calls, as
// callgrind_annotate and KCachegrind read them. As in callgrind itself, a recursive call adds no
// inclusive cost: it is part of the cost of the outermost call.
#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "model/tree/context_tree.h"
#include "reports/export/export_list.h"

namespace jprof::reports {
namespace {

// Identifies functions by their names, as readers do.
class CallgrindWriter {
 public:
  CallgrindWriter(const model::ContextTree& tree, Output& out) : tree_(tree), out_(out) {
    events_ = tree.Sums();  // readers sort by the first one
    const auto preferred = std::ranges::find(events_, tree.preferred);
    if (preferred != events_.end()) std::rotate(events_.begin(), preferred, preferred + 1);
  }

  void Write() {
    NumberFunctions();
    SumUp();
    WriteHead();
    WriteFunctions();
  }

 private:
  // A line of a function, and the place of its own costs.
  struct LineCost {
    uint32_t line = 0;
    uint32_t place = 0;
  };
  struct Function {
    const std::string* name = nullptr;
    const std::string* file = nullptr;
    std::vector<uint32_t> arcs;
    std::vector<LineCost> lines;
    uint32_t on_path = 0;
    bool named = false;  // its name was written, so its number suffices
  };
  struct Arc {
    uint32_t callee = 0;
    uint32_t line = 0;  // of the caller
    int64_t calls = 0;
  };

  void NumberFunctions() {
    std::unordered_map<std::string_view, uint32_t> numbers;
    for (const model::ExportFrame& frame : tree_.frames) {
      const auto [known, is_new] =
          numbers.try_emplace(frame.full, static_cast<uint32_t>(functions_.size()));
      if (is_new) functions_.push_back({.name = &frame.full});
      if (!frame.file.empty()) functions_[known->second].file = &frame.file;
      function_of_.push_back(known->second);
    }
  }

  // Returns the place of the own costs of a function's line.
  uint32_t SelfOf(uint32_t function, uint32_t line) {
    const auto next = static_cast<uint32_t>(self_.size() / events_.size());
    const auto [known, is_new] = self_of_.try_emplace(uint64_t{function} << 32 | line, next);
    if (is_new) {
      self_.resize(self_.size() + events_.size());
      functions_[function].lines.push_back({line, next});
    }
    return known->second;
  }

  // Adds a node's own costs to the lines that they belong to, and the rest to line 0.
  void AddSelf(model::NodeIndex node, uint32_t function) {
    std::vector<int64_t> rest;
    for (const size_t event : events_) rest.push_back(model::AtLeast0(tree_.Value(node, event)));
    const auto lines = std::ranges::equal_range(tree_.lines, node, {}, &model::LineValues::node);
    for (const model::LineValues& line : lines) {
      Accumulate(self_, SelfOf(function, line.line),
                 [&](size_t e) { return model::AtLeast0(line.values[events_[e]]); });
      for (size_t e = 0; e < events_.size(); ++e)
        rest[e] -= std::min(rest[e], model::AtLeast0(line.values[events_[e]]));
    }
    Accumulate(self_, SelfOf(function, 0), [&](size_t e) { return rest[e]; });
  }

  void SumUp() {
    for (size_t m = 0; m < tree_.measures.size(); ++m) {
      if (tree_.measures[m].kind == model::Measure::Kind::kCalls) calls_ = m;
    }
    for (const size_t event : events_) inclusive_.push_back(model::InclusiveAtLeast0(tree_, event));
    for (const model::NodeIndex root : tree_.roots) {
      model::VisitNodes(
          tree_.nodes, root, [&](model::NodeIndex node) { return Enter(node); },
          [&](model::NodeIndex node) { --functions_[FunctionOf(node)].on_path; });
    }
  }

  bool Enter(model::NodeIndex node) {
    const model::ContextNode& at = tree_.nodes[node];
    const uint32_t function = FunctionOf(node);
    AddSelf(node, function);
    const bool outermost = functions_[function].on_path++ == 0;
    if (at.parent == model::kNoNode) return true;
    const uint32_t arc = ArcOf(FunctionOf(at.parent), function, at.line);
    if (calls_ != kNone)
      arcs_[arc].calls = model::AddSaturating(arcs_[arc].calls, tree_.Value(node, calls_));
    if (outermost) Accumulate(arc_costs_, arc, [&](size_t e) { return inclusive_[e][node]; });
    return true;
  }

  uint32_t FunctionOf(model::NodeIndex node) const {
    return function_of_[IndexOf(tree_.nodes[node].frame)];
  }

  template <typename CostOf>
  void Accumulate(std::vector<int64_t>& costs, size_t index, const CostOf& cost) {
    for (size_t e = 0; e < events_.size(); ++e) {
      int64_t& sum = costs[index * events_.size() + e];
      sum = model::AddSaturating(sum, cost(e));
    }
  }

  uint32_t ArcOf(uint32_t caller, uint32_t callee, uint32_t line) {
    const auto [known, is_new] =
        arc_of_.try_emplace(std::tuple(caller, callee, line), static_cast<uint32_t>(arcs_.size()));
    if (!is_new) return known->second;
    arcs_.push_back({.callee = callee, .line = line});
    arc_costs_.resize(arcs_.size() * events_.size());
    functions_[caller].arcs.push_back(known->second);
    return known->second;
  }

  void WriteHead() {
    const model::RunDescription& run = tree_.run;
    out_.Print("# callgrind format\nversion: 1\ncreator: jprof {}\n", run.jprof);
    if (run.pid != 0) out_.Print("pid: {}\n", run.pid);
    if (!run.command.empty()) out_.Print("cmd: {}\n", run.command);
    for (const std::string& note : run.notes) out_.Print("desc: Note: {}\n", note);
    out_.Text("positions: line\n");
    for (const size_t event : events_) {
      const model::Measure& measure = tree_.measures[event];
      out_.Print("event: {} : {} in {}\n", EventName(event), measure.name, measure.unit);
    }
    out_.Text("events:");
    for (const size_t event : events_) out_.Print(" {}", EventName(event));
    std::vector<int64_t> totals(events_.size());
    for (const model::NodeIndex root : tree_.roots)
      Accumulate(totals, 0, [&](size_t e) { return inclusive_[e][root]; });
    out_.Text("\nsummary:");
    WriteCosts(totals, 0);
    out_.Text("\n");
  }

  // Returns the name of an event as one word.
  std::string EventName(size_t event) const {
    std::string name = tree_.measures[event].name;
    std::ranges::replace_if(
        name, [](unsigned char c) { return c <= ' ' || c == ':' || c == '='; }, '_');
    return name;
  }

  void WriteFunctions() {
    for (uint32_t i = 0; i < functions_.size() && out_.ok(); ++i) {
      Function& function = functions_[i];
      if (FileOf(i) != file_) WriteFile("fl", file_ = FileOf(i));
      WriteName("fn", i);
      std::ranges::sort(function.lines, {}, &LineCost::line);
      for (const LineCost& line : function.lines) {
        out_.Print("{}", line.line);
        WriteCosts(self_, line.place);
      }
      for (const uint32_t arc : function.arcs) WriteArc(i, arc);
      out_.Text("\n");
    }
  }

  std::string_view FileOf(uint32_t function) const {
    const std::string* const file = functions_[function].file;
    return file != nullptr ? std::string_view(*file) : "???";
  }

  // Writes the file of the lines that follow, or with "cfi" that of the called function.
  void WriteFile(const char* what, std::string_view file) {
    const auto [known, is_new] = files_.try_emplace(file, files_.size() + 1);
    out_.Print("{}=({}){}{}\n", what, known->second, is_new ? " " : "", is_new ? file : "");
  }

  void WriteName(const char* what, uint32_t function) {
    Function& of = functions_[function];
    out_.Print("{}=({}){}{}\n", what, function + 1, of.named ? "" : " ",
               of.named ? "" : std::string_view(*of.name));
    of.named = true;
  }

  void WriteCosts(const std::vector<int64_t>& costs, size_t index) {
    for (size_t e = 0; e < events_.size(); ++e)
      out_.Print(" {}", costs[index * events_.size() + e]);
    out_.Text("\n");
  }

  // Writes the cost of a call. callgrind_annotate takes a line of costs after "calls=0" for costs
  // of the caller itself, so there is at least one call.
  void WriteArc(uint32_t caller, uint32_t arc) {
    if (FileOf(caller) != FileOf(arcs_[arc].callee)) WriteFile("cfi", FileOf(arcs_[arc].callee));
    WriteName("cfn", arcs_[arc].callee);
    out_.Print("calls={} 0\n{}", std::max<int64_t>(arcs_[arc].calls, 1), arcs_[arc].line);
    WriteCosts(arc_costs_, arc);
  }

  static constexpr size_t kNone = ~size_t{0};

  const model::ContextTree& tree_;
  Output& out_;
  std::vector<size_t> events_;                   // measures
  size_t calls_ = kNone;                         // the measure of calls
  std::vector<std::vector<int64_t>> inclusive_;  // [event][node]
  std::vector<Function> functions_;
  std::vector<uint32_t> function_of_;               // from frame to function
  std::vector<int64_t> self_;                       // [place * events + event]
  std::unordered_map<uint64_t, uint32_t> self_of_;  // from function and line to place
  std::vector<Arc> arcs_;
  std::vector<int64_t> arc_costs_;                                       // [arc * events + event]
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, uint32_t> arc_of_;  // caller, callee, line
  std::unordered_map<std::string_view, size_t> files_;  // those written, with their numbers
  std::string_view file_;                               // of the function that is being written
};

}  // namespace

Result<void> WriteCallgrind(const model::ContextTree& tree, Output& out) {
  CallgrindWriter(tree, out).Write();
  return {};
}

}  // namespace jprof::reports
