#include "model/sums/object_sums.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "model/sums/program_rows.h"
#include "profile/files/object_metrics.h"

namespace jprof::model {
namespace {

bool IsClass(const Forest& forest, const Row& row) {
  return forest.names.KindOf(row.method, row.type) == FrameKind::kClass;
}

// Adds without overflow, which damaged values could cause in a signed sum.
void Add(int64_t& sum, int64_t value) {
  sum = static_cast<int64_t>(static_cast<uint64_t>(sum) + static_cast<uint64_t>(value));
}

// Sums that are found by a method.
class Sums {
 public:
  explicit Sums(std::vector<ObjectSum>& sums) : sums_(sums) {}
  size_t PlaceOf(const Row& row) {
    const auto [place, is_new] = places_.try_emplace(IndexOf(row.method), sums_.size());
    if (is_new) sums_.push_back({.method = row.method, .type = row.type});
    return place->second;
  }

 private:
  std::vector<ObjectSum>& sums_;
  std::unordered_map<uint32_t, size_t> places_;
};

using Rank = std::function<int64_t(const ObjectSum&)>;

void SortSums(std::vector<ObjectSum>& sums, const Rank& rank) {
  std::ranges::stable_sort(sums, std::greater(), rank);
  for (ObjectSum& sum : sums) SortSums(sum.callers, rank);
}

// Compares what each row has asked for with what was allocated there.
class Removed {
 public:
  explicit Removed(const Forest& forest)
      : forest_(forest),
        asked_(PlaceOf(forest, profile::kAskedMetric)),
        objects_(PlaceOf(forest, profile::kObjectMetrics[1].name)) {}

  void AddTo(ObjectSum& sum, size_t row) const {
    if (!asked_ || !objects_) return;
    const int64_t asked = forest_.rows.cell(row, *asked_).raw;
    const int64_t objects = forest_.rows.cell(row, *objects_).raw;
    if (asked > objects) Add(sum.removed, asked - objects);
    if (asked < objects) Add(sum.without_new, objects - asked);
  }

 private:
  const Forest& forest_;
  const std::optional<size_t> asked_, objects_;
};

// Returns whether the row is of a class, or has bytes of no class.
bool HasBytes(const Forest& forest, size_t row) {
  const Row& of = forest.rows.rows[row];
  if (IsClass(forest, of) || IsUnseen(forest, of)) return true;
  return of.method == profile::kOverflowMethod && forest.metric_count() > 0 &&
         forest.rows.cell(row, 0).raw != 0;
}

void AddRow(const Forest& forest, const Removed& removed, size_t row, ObjectSum& sum) {
  ++sum.contexts;
  removed.AddTo(sum, row);
  sum.values.resize(forest.metric_count());
  for (size_t m = 0; m < forest.metric_count(); ++m)
    Add(sum.values[m], forest.rows.cell(row, m).raw);
}

// Adds up, for each method that allocates a class, the bytes by the method of the program.
class ProgramMethods {
 public:
  explicit ProgramMethods(const Forest& forest) : forest_(forest), rows_(forest) {}

  // Adds the row of a class, which the method `caller` of the class `place` allocates.
  void AddRow(size_t place, size_t caller, size_t row) {
    const NodeIndex above = rows_.Above(forest_.rows.rows[row].parent);
    if (above == kNoNode || forest_.metric_count() == 0) return;
    const profile::MethodId method = forest_.rows.rows[above].method;
    if (method == profile::kRootMethod) return;
    Add(bytes_[{place, caller, method}], forest_.rows.cell(row, 0).raw);
  }
  // Sets the largest of each method. Of equal ones it is the method with the lowest number.
  void Set(std::vector<ObjectSum>& classes) const {
    for (const auto& [key, bytes] : bytes_) {
      const auto& [place, caller, method] = key;
      ObjectSum& sum = classes[place].callers[caller];
      if (bytes <= sum.program_bytes) continue;
      sum.program_method = method;
      sum.program_bytes = bytes;
    }
  }

 private:
  const Forest& forest_;
  ProgramRows rows_;
  std::map<std::tuple<size_t, size_t, profile::MethodId>, int64_t> bytes_;
};

}  // namespace

bool HasObjects(const Forest& forest) {
  return std::ranges::any_of(forest.metrics, [](const MetricTotals& metric) {
    return profile::ObjectMetricOf(metric.info) != nullptr;
  });
}

std::optional<size_t> PlaceOf(const Forest& forest, std::string_view name) {
  const auto found =
      std::ranges::find(forest.metrics, name, [](const auto& metric) { return metric.info.name; });
  if (found == forest.metrics.end()) return std::nullopt;
  return static_cast<size_t>(found - forest.metrics.begin());
}

std::vector<int64_t> WithClasses(const Forest& forest, size_t metric) {
  const std::vector<Row>& rows = forest.rows.rows;
  std::vector<int64_t> values(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    const int64_t own = forest.rows.cell(i, metric).raw;
    Add(values[i], own);
    if (rows[i].parent != kNoNode && IsClass(forest, rows[i])) Add(values[rows[i].parent], own);
  }
  return values;
}

bool IsUnseen(const Forest& forest, const Row& row) {
  const profile::MethodName parts = forest.names.Parts(row.method);
  return (parts.flags & profile::kMethodStub) != 0 && parts.name == profile::kUnseenRow;
}

int64_t UnseenOf(const Forest& forest) {
  int64_t sum = 0;
  for (size_t i = 0; i < forest.rows.rows.size() && forest.metric_count() > 0; ++i) {
    if (IsUnseen(forest, forest.rows.rows[i])) Add(sum, forest.rows.cell(i, 0).raw);
  }
  return sum;
}

std::vector<ObjectSum> SumByClass(const Forest& forest, const Rank& rank) {
  const Removed removed(forest);
  ProgramMethods programs(forest);
  const std::vector<Row>& rows = forest.rows.rows;
  std::vector<ObjectSum> classes;
  Sums places(classes);
  std::vector<std::unordered_map<uint32_t, size_t>> caller_of;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!HasBytes(forest, i)) continue;
    const size_t place = places.PlaceOf(rows[i]);
    AddRow(forest, removed, i, classes[place]);
    if (!IsClass(forest, rows[i]) || rows[i].parent == kNoNode) continue;
    const Row& caller = rows[rows[i].parent];
    caller_of.resize(classes.size());
    std::vector<ObjectSum>& callers = classes[place].callers;
    const auto [found, is_new] =
        caller_of[place].try_emplace(IndexOf(caller.method), callers.size());
    if (is_new) callers.push_back({.method = caller.method, .type = caller.type});
    AddRow(forest, removed, i, callers[found->second]);
    programs.AddRow(place, found->second, i);
  }
  programs.Set(classes);
  SortSums(classes, rank);
  return classes;
}

}  // namespace jprof::model
