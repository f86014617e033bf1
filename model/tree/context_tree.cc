#include "model/tree/context_tree.h"

#include <algorithm>
#include <cmath>

#include "model/tree/context_builder.h"
#include "model/tree/forest.h"
#include "model/tree/readable_name.h"
#include "model/tree/run_description.h"
#include "model/tree/site_place.h"
#include "model/values/whole_units.h"
#include "profile/files/object_metrics.h"
#include "profile/files/printable_text.h"

namespace jprof::model {
namespace {

// The source of a measure's values.
struct Column {
  enum class From : uint8_t { kCalls, kRaw, kBase, kError, kPeriods };
  From from = From::kCalls;
  size_t metric = 0;
};

std::string UnitName(const std::string& unit) {
  if (unit == "ns") return "nanoseconds";
  return unit == "bytes" ? unit : "count";
}

class ForestContexts {
 public:
  ForestContexts(Source& source, Forest& forest, bool merged)
      : source_(source), forest_(forest), merged_(merged), builder_(tree_) {}

  ContextTree Take() {
    AddMeasures();
    AddThreads();
    AddNodes();
    AddValues();
    AddLines();
    tree_.roots = forest_.rows.roots;
    LinkNodes(tree_.nodes);
    Describe();
    return std::move(tree_);
  }

 private:
  void AddMeasures() {
    if (forest_.calls > 0 || forest_.metrics.empty())
      Add({"calls", "count", Measure::Kind::kCalls, 0, ""}, {Column::From::kCalls, 0});
    for (size_t m = 0; m < forest_.metrics.size(); ++m) {
      forest_.metrics[m].info.is_samples() ? AddSampled(m) : AddMeasured(m);
    }
  }

  void Add(Measure measure, Column column) {
    measure.name = profile::CleanText(measure.name);
    tree_.measures.push_back(std::move(measure));
    columns_.push_back(column);
  }

  void Prefer() {
    if (!has_preferred_) tree_.preferred = tree_.measures.size() - 1;
    has_preferred_ = true;
  }

  void AddMeasured(size_t m) {
    const MetricTotals& metric = forest_.metrics[m];
    const std::string unit = UnitName(metric.info.unit);
    if (!metric.info.is_disturbed()) {
      const profile::ObjectMetric* const object = profile::ObjectMetricOf(metric.info);
      Add({std::string(object != nullptr ? object->pprof : metric.info.name), unit,
           Measure::Kind::kSum, 0, ""},
          {Column::From::kRaw, m});
      return Prefer();
    }
    Add({metric.info.name + "_raw", unit, Measure::Kind::kSum, 0, ""}, {Column::From::kRaw, m});
    if (!metric.calibrated) return Prefer();
    Add({metric.info.name, unit, Measure::Kind::kSum, 0, ""}, {Column::From::kBase, m});
    Prefer();
    Add({metric.info.name + "_error", unit, Measure::Kind::kBound, 0, ""},
        {Column::From::kError, m});
  }

  // Adds a number of samples, and their time if they are of CPU time.
  void AddSampled(size_t m) {
    const profile::Metric& info = forest_.metrics[m].info;
    const profile::Period& period = info.period;
    const auto every = CountOf(period.value);
    const bool elapsed = period.clock == profile::Period::Clock::kElapsed;
    Add({info.name, UnitName(info.unit), Measure::Kind::kSum, every, UnitName(period.unit),
         elapsed},
        {Column::From::kRaw, m});
    if (info.is_cpu_samples()) {
      Add({"cpu", "nanoseconds", Measure::Kind::kSum, every, "nanoseconds"},
          {Column::From::kPeriods, m});
    }
    Prefer();
  }

  void AddThreads() {
    if (merged_) return tree_.threads.push_back({"(all threads)", 0});
    for (const profile::Thread& thread : source_.reader.threads()) {
      const std::string name = profile::CleanText(thread.name);
      tree_.threads.push_back({name.empty() ? "(unnamed)" : name, thread.record.tid});
    }
  }

  void AddNodes() {
    frame_of_.resize(forest_.names.size(), kNoFrame);
    tree_.nodes.reserve(forest_.rows.rows.size());
    for (const Row& row : forest_.rows.rows) {
      const bool is_thread = row.parent == kNoNode;
      const profile::ThreadIndex thread = merged_ ? profile::ThreadIndex{} : row.thread;
      builder_.AddNode(row.parent, is_thread ? ThreadFrame(thread) : FrameOf(row), thread,
                       is_thread ? Letter(FrameKind::kThread)
                                 : forest_.names.LetterOf(row.method, row.type, false));
    }
  }

  FrameIndex ThreadFrame(profile::ThreadIndex thread) {
    const ExportThread& of = tree_.threads[IndexOf(thread)];
    const std::string name = of.tid == 0 ? of.name : fmt::format("{} (tid {})", of.name, of.tid);
    return builder_.AddFrame({name, name, 0, ExportFrame::Kind::kThread});
  }

  // Returns the frame of a row. Ids with names are dense; only others need a hash table.
  FrameIndex FrameOf(const Row& row) {
    const uint32_t index = IndexOf(row.method);
    FrameIndex& frame = index < frame_of_.size()
                            ? frame_of_[index]
                            : odd_frame_.try_emplace(index, kNoFrame).first->second;
    if (frame == kNoFrame) frame = builder_.AddFrame(MakeFrame(row.method));
    return frame;
  }

  ExportFrame MakeFrame(profile::MethodId method) {
    ExportFrame frame = {.full = std::string(forest_.names.Of(method))};
    if (frame.full.empty()) frame.full = "(unnamed)";
    frame.readable = frame.full;
    const profile::MethodName parts = forest_.names.Parts(method);
    if (method == profile::kOverflowMethod || (parts.flags & profile::kMethodNotJava) == 0) {
      frame.readable = ReadableMethod(frame.full);
    } else if (parts.flags & profile::kMethodClass) {
      frame.full = frame.readable = "--" + frame.full;
    } else if (parts.flags & (profile::kMethodCode | profile::kMethodKernel)) {
      MakeNative(parts, frame);
    }
    return frame;
  }

  // Makes the frame of a native function: "libc.so.6.malloc" is malloc of the module libc.so.6.
  void MakeNative(const profile::MethodName& parts, ExportFrame& frame) {
    const bool kernel = parts.flags & profile::kMethodKernel;
    frame.kind = kernel ? ExportFrame::Kind::kKernel : ExportFrame::Kind::kNative;
    const std::string path(parts.class_name);
    const std::string base = path.substr(path.rfind('/') + 1);
    frame.module = builder_.ModuleOf(path.empty() ? "[unknown]" : path,
                                     base == "libjvm.so" ? source_.reader.meta().jvm.build_id : "");
    const std::string prefix = profile::CleanText(base) + ".";
    if (frame.full.size() > prefix.size() && frame.full.starts_with(prefix))
      frame.readable = frame.full.substr(prefix.size());
  }

  void AddValues() {
    std::vector<WholeUnits> units(columns_.size());
    tree_.values.reserve(tree_.nodes.size() * columns_.size());
    for (size_t row = 0; row < forest_.rows.rows.size(); ++row) {
      for (size_t c = 0; c < columns_.size(); ++c)
        tree_.values.push_back(ValueOf(row, columns_[c], units[c]));
    }
  }

  // Adds the lines of calls and of samples, and the files of frames that have any.
  void AddLines() {
    for (size_t i = 0; i < tree_.nodes.size(); ++i) {
      const Row& row = forest_.rows.rows[i];
      if (row.site != profile::kRootMethod) tree_.nodes[i].line = LineAt(row.parent, row.site);
    }
    for (const SiteValues& site : forest_.rows.sites) {
      LineValues line = {site.row, LineAt(site.row, site.site), {}};
      for (const Column& column : columns_) {
        WholeUnits units;
        const Cell cell = {.raw =
                               column.from == Column::From::kCalls ? 0 : site.raw[column.metric]};
        line.values.push_back(column.from == Column::From::kCalls ? 0
                                                                  : ValueIn(cell, column, units));
      }
      if (line.line != 0) tree_.lines.push_back(std::move(line));
    }
    std::ranges::stable_sort(tree_.lines, {}, &LineValues::node);
  }

  // Returns the line of a site in a row's method.
  uint32_t LineAt(NodeIndex row, profile::MethodId site) {
    const SitePlace place = PlaceOfSite(forest_.names.Parts(site));
    const profile::MethodName method = forest_.names.Parts(forest_.rows.rows[row].method);
    std::string& file = tree_.frames[IndexOf(tree_.nodes[row].frame)].file;
    if (file.empty() && place.line != 0) {
      const size_t package = method.class_name.rfind('/') + 1;  // 0 without one
      const std::string name =
          place.file.empty() ? UsualSourceFile(method.class_name) : std::string(place.file);
      file = profile::CleanText(std::string(method.class_name.substr(0, package)) + name);
    }
    return place.line;
  }

  int64_t ValueOf(size_t row, const Column& column, WholeUnits& units) const {
    if (column.from == Column::From::kCalls) return CountOf(forest_.rows.rows[row].calls);
    return ValueIn(forest_.rows.cell(row, column.metric), column, units);
  }

  int64_t ValueIn(const Cell& cell, const Column& column, WholeUnits& units) const {
    const profile::Metric& info = forest_.metrics[column.metric].info;
    switch (column.from) {
      case Column::From::kError:
        return Rounded(std::ceil(static_cast<double>(cell.error) * info.scale));
      case Column::From::kPeriods:
        return units.Of(static_cast<double>(cell.raw) * static_cast<double>(info.period.value));
      case Column::From::kBase:
        return units.Of(cell.base() * info.scale);
      default:  // a count is exact in any size
        return info.scale == 1 ? cell.raw : units.Of(static_cast<double>(cell.raw) * info.scale);
    }
  }

  void Describe() {
    tree_.run = DescribeRun(source_);
    std::vector<std::string> how;
    for (const MetricTotals& metric : forest_.metrics) {
      if (metric.info.is_disturbed())
        how.push_back(CorrectionNote(metric.info.name, metric.calibrated, source_));
      if (metric.estimate_error > 0) {
        how.push_back(fmt::format(
            "{}: estimated from one interval in {} of frequent contexts, +- {:.0f} {} in all",
            metric.info.name, source_.reader.meta().options.time_every,
            metric.estimate_error * metric.info.scale, metric.info.unit));
      }
    }
    AddNotesBelow0(tree_, how);
    if (forest_.rows.open_frames > 0 && !source_.reader.is_part())
      how.push_back(fmt::format("open: {} calls had not returned", forest_.rows.open_frames));
    tree_.run.notes.insert(tree_.run.notes.begin(), how.begin(), how.end());
  }

  Source& source_;
  Forest& forest_;
  bool merged_;
  ContextTree tree_;
  ContextBuilder builder_;
  std::vector<Column> columns_;
  bool has_preferred_ = false;
  std::vector<FrameIndex> frame_of_;  // from method to frame
  std::unordered_map<uint32_t, FrameIndex> odd_frame_;
};

}  // namespace

std::string CorrectionNote(const std::string& metric, bool calibrated, const Source& source) {
  return profile::CleanText(metric + (calibrated ? ": calibrated with " + source.table_from
                                      : source.table
                                          ? ": UNCALIBRATED: no costs for it in the table"
                                          : ": UNCALIBRATED: " + source.uncalibrated));
}

void AddNotesBelow0(const ContextTree& tree, std::vector<std::string>& notes) {
  for (const size_t m : tree.Sums()) {
    uint64_t count = 0;
    int64_t sum = 0;
    for (size_t node = 0; node < tree.nodes.size(); ++node) {
      const int64_t value = std::min<int64_t>(tree.Value(node, m), 0);
      count += value < 0;
      sum = AddSaturating(sum, value);
    }
    if (count == 0) continue;
    notes.push_back(fmt::format("{}: {} contexts are below 0, together {} {}",
                                tree.measures[m].name, count, sum, tree.measures[m].unit));
  }
}

std::vector<size_t> ContextTree::Sums() const {
  std::vector<size_t> sums;
  for (size_t m = 0; m < measures.size(); ++m) {
    if (measures[m].kind != Measure::Kind::kBound) sums.push_back(m);
  }
  return sums;
}

std::string PeriodType(const Measure& measure) {
  if (measure.period_unit != "nanoseconds") return measure.name;
  return measure.elapsed ? "wall" : "cpu";
}

std::vector<uint32_t> Levels(const ContextTree& tree) {
  std::vector<uint32_t> levels(tree.nodes.size());
  for (size_t i = 0; i < levels.size(); ++i) {
    const NodeIndex parent = tree.nodes[i].parent;
    if (parent != kNoNode) levels[i] = levels[parent] + 1;
  }
  return levels;
}

int64_t AddSaturating(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a > 0 ? INT64_MAX : INT64_MIN;
}

std::vector<int64_t> InclusiveAtLeast0(const ContextTree& tree, size_t measure) {
  std::vector<int64_t> sums(tree.nodes.size());
  for (size_t i = sums.size(); i-- > 0;) {
    sums[i] = AddSaturating(sums[i], AtLeast0(tree.Value(i, measure)));
    const NodeIndex parent = tree.nodes[i].parent;
    if (parent != kNoNode) sums[parent] = AddSaturating(sums[parent], sums[i]);
  }
  return sums;
}

Result<ContextTree> LoadContexts(Source& source, const ForestOptions& options) {
  Result<Forest> forest = LoadForest(source, options);
  if (!forest) return std::unexpected(forest.error());
  return ForestContexts(source, *forest, options.merged).Take();
}

}  // namespace jprof::model
