#include "reports/gate/gate_data.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "model/sums/program_rows.h"
#include "profile/files/printable_text.h"
#include "profile/read/losses.h"

namespace jprof::reports {
namespace {

using model::NodeIndex;

// Threads of the JVM. What they call depends on the collector, on signals and on time.
constexpr std::string_view kJvmThreads[] = {
    "Reference Handler", "Finalizer",           "Signal Dispatcher",       "Common-Cleaner",
    "Cleaner-",          "Notification Thread", "Service Thread",          "Attach Listener",
    "DestroyJavaVM",     "process reaper",      "Monitor Deflation Thread"};

// The kernel has only the beginning of a name.
bool IsOfJvm(std::string_view thread) {
  constexpr size_t kMostOfKernel = 15;
  return std::ranges::any_of(kJvmThreads, [&](std::string_view name) {
    return thread.starts_with(name) || (thread.size() == kMostOfKernel && name.starts_with(thread));
  });
}

// Returns whether the VM calls the method to load, link or initialise a class of its own.
bool IsLinking(const model::MethodParts& method) {
  return method.class_name == "java/lang/invoke/MethodHandleNatives" || method.name == "<clinit>" ||
         method.name == "loadClass" || method.name == "checkPackageAccess";
}

// One profile that is read, and what of it counts.
struct GatePart {
  model::Source* source;
  size_t side;
  bool counted, sampled;

  size_t MetricOfTime() const {
    const auto& metrics = source->reader.meta().metrics;
    const auto found = std::ranges::find_if(metrics, &profile::Metric::is_cpu_samples);
    return sampled ? static_cast<size_t>(found - metrics.begin()) : metrics.size();
  }
  bool HasTime() const { return MetricOfTime() < source->reader.meta().metrics.size(); }
};

Result<std::vector<GatePart>> PartsOf(model::Input& input, size_t side) {
  if (auto* source = std::get_if<model::Source>(&input))
    return std::vector<GatePart>{{source, side, true, true}};
  auto* combined = std::get_if<model::Combined>(&input);
  if (combined == nullptr) {
    return WrongUse("{} is {}, which has no calls to compare; name a profile",
                    profile::CleanText(model::ShownNameOf(input)),
                    model::NameOf(model::KindOf(input)));
  }
  std::vector<GatePart> parts = {{&combined->counted, side, true, false}};
  for (model::Source& source : combined->recounted) parts.push_back({&source, side, true, false});
  for (model::Source& source : combined->sampled) parts.push_back({&source, side, false, true});
  return parts;
}

// Reads the parts one by one.
class GateLoader {
 public:
  explicit GateLoader(size_t sampled_runs) : builder_(sampled_runs, model::Builds::kSeveral) {}

  Result<void> Add(const GatePart& part) {
    model::Source& source = *part.source;
    Result<model::Forest> forest = model::LoadForest(source, {});
    if (!forest) return std::unexpected(forest.error());
    if (!source.reader.damages().empty()) {
      return Fail("{} is damaged ({}); record it again", profile::CleanText(source.reader.shown()),
                  source.reader.damages().Lines().front());
    }
    AddNotes(source, part.side);
    if (part.HasTime()) AddTime(*forest, part);
    if (!part.counted) return {};
    FindJvmRows(source, *forest);
    const std::vector<NodeIndex> contexts = builder_.Match(*forest);
    if (forest->calls > 0) AddCalls(*forest, contexts, part.side);
    for (size_t m = 0; m < forest->metrics.size(); ++m) {
      const profile::Metric& info = forest->metrics[m].info;
      if (!info.is_cpu_samples() && (part.sampled || !info.is_samples()))
        AddMetric(*forest, m, contexts, part.side);
    }
    return {};
  }

  GateData Take() {
    model::CombinedTree tree = builder_.Take();
    for (const model::CombinedContext& context : tree.contexts) {
      model::Context& copy = data_.tree.contexts.emplace_back();
      copy.parent = context.parent;
      copy.name = context.name;
      copy.level = context.level;
    }
    data_.tree.contexts.erase(data_.tree.contexts.begin());  // the root that it begins with
    for (GateMetric& metric : data_.metrics) {
      for (auto& runs : metric.runs)
        for (RunValues& run : runs) Fill(run, metric.kind);
    }
    for (size_t side = 0; side < 2; ++side) TakeTime(tree, side);
    data_.tree.names = std::move(tree.names);
    // The time of a sampled run is that of the program; that of a counted one is not.
    if (data_.Find(kTimeName) != nullptr && times_ > 0) {
      std::erase_if(data_.metrics, [](const GateMetric& metric) {
        return metric.name == kTimeName && metric.kind != GateMetric::Kind::kTime;
      });
    }
    FindJvmCalls();
    return std::move(data_);
  }

  GateSide& side(size_t index) { return data_.sides[index]; }

 private:
  static constexpr std::string_view kTimeName = "time";
  static constexpr size_t kCallsColumn = 0;  // of the spread

  void Fill(RunValues& run, GateMetric::Kind kind) const {
    run.values.resize(data_.tree.contexts.size());
    if (kind == GateMetric::Kind::kUncertain) run.errors.resize(run.values.size());
  }

  void AddNotes(const model::Source& source, size_t side) {
    for (const profile::Loss& loss : profile::Losses(source.reader)) {
      if (loss.count > 0) {
        data_.sides[side].notes.push_back(
            fmt::format("{}: lost: {} {}", source.reader.shown(), loss.count, loss.description));
      }
    }
  }

  void AddTime(model::Forest& forest, const GatePart& part) {
    const profile::Metric& info = part.source->reader.meta().metrics[part.MetricOfTime()];
    const auto column = std::ranges::find(forest.metrics, info.name,
                                          [](const auto& metric) { return metric.info.name; });
    const double inputs = std::max(1u, forest.spread.inputs);  // of a merged profile
    builder_.AddSampled(forest, times_++, static_cast<size_t>(column - forest.metrics.begin()),
                        static_cast<double>(info.period.value) / inputs);
    GateMetric& time = MetricOf(kTimeName, "ns", GateMetric::Kind::kTime);
    time.alias = info.name;
    time.runs[part.side].emplace_back();
  }

  // Finds which rows are of threads of the JVM.
  void FindJvmRows(const model::Source& source, const model::Forest& forest) {
    const std::vector<model::Row>& rows = forest.rows.rows;
    is_jvm_.assign(rows.size(), false);
    for (size_t i = 0; i < rows.size(); ++i) {
      is_jvm_[i] = rows[i].parent == model::kNoNode
                       ? IsOfJvm(source.reader.threads()[IndexOf(rows[i].thread)].name)
                       : is_jvm_[rows[i].parent];
    }
  }

  void AddCalls(const model::Forest& forest, const std::vector<NodeIndex>& contexts, size_t side) {
    GateMetric& calls = MetricOf("calls", "", GateMetric::Kind::kExact);
    const double inputs = std::max(1u, forest.spread.inputs);
    ++data_.sides[side].counted_runs;
    for (size_t i = 0; i < contexts.size(); ++i)
      if (is_jvm_[i])
        data_.sides[side].jvm_calls += static_cast<double>(forest.rows.rows[i].calls) / inputs;
    AddExact(calls, forest, contexts, side, kCallsColumn, 1,
             [&](size_t row) { return static_cast<double>(forest.rows.rows[row].calls); });
  }

  void AddMetric(const model::Forest& forest, size_t m, const std::vector<NodeIndex>& contexts,
                 size_t side) {
    const model::MetricTotals& column = forest.metrics[m];
    const bool stands_for = column.counts == m && column.info.period.value > 0;
    const double scale =
        stands_for ? static_cast<double>(column.info.period.value) : column.info.scale;
    const std::string& unit = stands_for ? column.info.period.unit : column.info.unit;
    if (column.info.kind == profile::Metric::Kind::kExact) {
      AddExact(MetricOf(column.info.name, unit, GateMetric::Kind::kExact), forest, contexts, side,
               forest.spread_columns[m], scale, [&](size_t row) {
                 return static_cast<double>(forest.rows.cell(row, m).raw) * scale;
               });
      return;
    }
    GateMetric& metric = MetricOf(column.info.name, unit, GateMetric::Kind::kUncertain);
    metric.is_sampled = column.info.is_samples();
    RunValues& run = metric.runs[side].emplace_back();
    const double inputs = std::max(1u, forest.spread.inputs);
    for (size_t i = 0; i < contexts.size(); ++i) {
      if (contexts[i] == model::kNoNode) continue;
      const model::Cell& cell = forest.rows.cell(i, m);
      At(run.values, contexts[i]) += cell.base() * scale / inputs;
      double& error = At(run.errors, contexts[i]);
      const double own = cell.error * scale / inputs;
      error = metric.is_sampled ? std::hypot(error, own) : error + own;
    }
  }

  // Adds the values of one run, or the least and the greatest values of the runs that were merged.
  void AddExact(GateMetric& metric, const model::Forest& forest,
                const std::vector<NodeIndex>& contexts, size_t side, size_t column, double scale,
                const std::function<double(size_t row)>& value) {
    const profile::Spread& spread = forest.spread;
    const size_t runs = spread.inputs > 1 ? 2 : 1;
    const size_t first = metric.runs[side].size();
    metric.runs[side].resize(first + runs);
    for (size_t i = 0; i < contexts.size(); ++i) {
      if (contexts[i] == model::kNoNode || is_jvm_[i]) continue;
      const uint32_t record = forest.rows.rows[i].context;
      const bool is_known = runs == 2 && record < spread.present.size();
      const profile::Range* range =
          is_known ? &spread.ranges[size_t{record} * spread.columns + column] : nullptr;
      for (size_t run = 0; run < runs; ++run) {
        At(metric.runs[side][first + run].values, contexts[i]) +=
            range != nullptr ? static_cast<double>(run == 0 ? range->min : range->max) * scale
                             : value(i) / std::max(1u, spread.inputs);
      }
    }
  }

  static double& At(std::vector<double>& values, NodeIndex context) {
    if (context >= values.size()) values.resize(context + 1);
    return values[context];
  }

  GateMetric& MetricOf(std::string_view name, const std::string& unit, GateMetric::Kind kind) {
    const auto found = std::ranges::find_if(data_.metrics, [&](const GateMetric& metric) {
      return metric.name == name && metric.unit == unit && metric.kind == kind;
    });
    if (found != data_.metrics.end()) return *found;
    return data_.metrics.emplace_back(
        GateMetric{.name = std::string(name), .alias = {}, .unit = unit, .kind = kind, .runs = {}});
  }

  // Gives a side its samples, which are those of `runs` of all sampled runs.
  void TakeTime(const model::CombinedTree& tree, size_t side) {
    const auto time = std::ranges::find(data_.metrics, GateMetric::Kind::kTime, &GateMetric::kind);
    if (time == data_.metrics.end() || time->runs[side].empty()) return;
    const size_t runs = time->runs[side].size(), first = side == 0 ? 0 : time->runs[0].size();
    model::CombinedTree& own = data_.sides[side].tree;
    own.runs = runs;
    own.names = tree.names;
    own.contexts = tree.contexts;
    for (size_t run = 0; run < runs; ++run) own.period_ns.push_back(tree.period_ns[first + run]);
    for (size_t i = 0; i < tree.contexts.size(); ++i) {
      for (size_t run = 0; run < runs; ++run) {
        own.samples.push_back(tree.Samples(i, first + run));
        own.all_samples.push_back(tree.AllSamples(i, first + run));
        time->runs[side][run].values[i] = own.samples.back();
      }
    }
    data_.sides[side].times.emplace(own, data_.sides[side].usual);
  }

  void FindJvmCalls() {
    const model::JointTree& tree = data_.tree;
    std::vector<bool> is_jdk, is_linking;
    for (const std::string& name : tree.names) {
      const model::MethodParts parts = model::PartsOfMethod(name);
      is_jdk.push_back(model::IsOfJdk(parts.class_name));
      is_linking.push_back(is_jdk.back() && IsLinking(parts));
    }
    std::vector<JvmCall>& calls = data_.jvm_calls;
    calls.resize(tree.contexts.size());
    for (NodeIndex i = 1; i < tree.contexts.size(); ++i) {
      const model::Context& context = tree.contexts[i];
      const bool by_jdk = context.parent == 0 || is_jdk[tree.contexts[context.parent].name];
      if (is_linking[context.name] || calls[context.parent] == JvmCall::kLinking) {
        calls[i] = JvmCall::kLinking;
      } else if (is_jdk[context.name] && by_jdk) {
        calls[i] = JvmCall::kInside;
      }
    }
  }

  model::CombinedTreeBuilder builder_;
  GateData data_;
  size_t times_ = 0;          // sampled runs added so far
  std::vector<bool> is_jvm_;  // by row of the profile being added
};

// Fails unless a method of the program was seen in both profiles.
Result<void> CheckCommon(const GateData& data) {
  std::array<std::set<uint32_t>, 2> seen;
  for (const GateMetric& metric : data.metrics) {
    for (size_t side = 0; side < 2; ++side) {
      for (const RunValues& run : metric.runs[side]) {
        for (size_t i = 1; i < run.values.size(); ++i)
          if (run.values[i] != 0) seen[side].insert(data.tree.contexts[i].name);
      }
    }
  }
  const auto is_common = [&](uint32_t name) { return seen[1].contains(name); };
  if (std::ranges::any_of(seen[0], is_common)) return {};
  return WrongUse("{} and {} have no method in common: are they of the same program?",
                  data.sides[0].directory, data.sides[1].directory);
}

}  // namespace

const GateMetric* GateData::Find(std::string_view wanted) const {
  const auto found = std::ranges::find_if(
      metrics, [&](const GateMetric& metric) { return metric.IsNamed(wanted); });
  return found == metrics.end() ? nullptr : &*found;
}

Result<GateData> LoadGate(model::Input& base, model::Input& now, const GateProgress& progress) {
  std::vector<GatePart> parts;
  model::Input* const inputs[] = {&base, &now};
  for (size_t side = 0; side < 2; ++side) {
    auto of_side = PartsOf(*inputs[side], side);
    if (!of_side) return std::unexpected(of_side.error());
    parts.insert(parts.end(), of_side->begin(), of_side->end());
  }
  GateLoader loader(static_cast<size_t>(std::ranges::count_if(parts, &GatePart::HasTime)));
  for (size_t side = 0; side < 2; ++side) {
    loader.side(side).directory = profile::CleanText(model::ShownNameOf(*inputs[side]));
    if (const auto* combined = std::get_if<model::Combined>(inputs[side]))
      loader.side(side).usual = combined->meta.usual;
  }
  for (size_t i = 0; i < parts.size(); ++i) {
    if (auto added = loader.Add(parts[i]); !added) return std::unexpected(added.error());
    progress(i + 1, parts.size());
  }
  GateData data = loader.Take();
  if (auto common = CheckCommon(data); !common) return std::unexpected(common.error());
  return data;
}

}  // namespace jprof::reports
