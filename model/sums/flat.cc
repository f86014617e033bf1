#include "model/sums/flat.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace jprof::model {
namespace {

class Summer {
 public:
  explicit Summer(const Forest& forest)
      : forest_(forest),
        rows_(forest.rows),
        metric_count_(forest.metric_count()),
        place_(forest.names.size(), kNoNode) {
    of_row_.reserve(rows_.rows.size());
    for (size_t i = 0; i < rows_.rows.size(); ++i) Add(i);
    for (size_t i = 0; i < sums_.size(); ++i) {
      const auto most = std::max_element(calls_by_type_[i].begin(), calls_by_type_[i].end());
      sums_[i].type = static_cast<FrameKind>(most - calls_by_type_[i].begin());
      SetSamplingErrors(forest_.metrics, sums_[i].self.data());
    }
  }

  // Visits the rows depth first. Only a method's outermost rows count, because they include those
  // below.
  void AddCumulative() {
    std::vector<std::vector<double>> below;
    for (size_t m = 0; m < std::max<size_t>(metric_count_, 1); ++m)
      below.push_back(Cumulative(rows_, m));
    for (MethodSum& sum : sums_) sum.cumulative.resize(below.size());
    std::vector<uint32_t> on_path(sums_.size());
    const auto enter = [&](NodeIndex at) {
      const uint32_t place = of_row_[at];
      if (on_path[place]++ > 0) return true;
      for (size_t m = 0; m < below.size(); ++m) sums_[place].cumulative[m] += below[m][at];
      return true;
    };
    const auto leave = [&](NodeIndex at) { --on_path[of_row_[at]]; };
    for (const NodeIndex root : rows_.roots) VisitNodes(rows_.rows, root, enter, leave);
  }

  std::vector<MethodSum> Take() {
    const auto key = [&](const MethodSum& sum) {
      const double value = metric_count_ > 0 ? sum.self[0].base() : static_cast<double>(sum.calls);
      return std::isnan(value) ? 0 : value;
    };
    std::stable_sort(sums_.begin(), sums_.end(),
                     [&](const auto& a, const auto& b) { return key(a) > key(b); });
    return std::move(sums_);
  }

 private:
  void Add(size_t index) {
    const Row& row = rows_.rows[index];
    const uint32_t place = PlaceOf(row.method);
    of_row_.push_back(place);
    MethodSum& sum = sums_[place];
    sum.calls += row.calls;
    sum.samples += row.samples;
    ++sum.contexts;
    calls_by_type_[place][static_cast<size_t>(row.type)] +=
        row.calls + row.samples + 1;  // + 1, so that a method without calls has a type, too
    for (size_t m = 0; m < metric_count_; ++m) {
      const Cell& cell = rows_.cell(index, m);
      Cell& self = sum.self[m];
      self.raw =
          static_cast<int64_t>(static_cast<uint64_t>(self.raw) + static_cast<uint64_t>(cell.raw));
      self.adjust += cell.adjust;
      self.error += cell.error;
    }
  }

  // Returns the sum of a method. Ids with names are dense; only others need a hash table.
  uint32_t PlaceOf(profile::MethodId method) {
    const uint32_t index = IndexOf(method);
    uint32_t& place = index < place_.size() ? place_[index]
                                            : odd_place_.try_emplace(index, kNoNode).first->second;
    if (place != kNoNode) return place;
    place = static_cast<uint32_t>(sums_.size());
    sums_.emplace_back().method = method;
    sums_.back().self.resize(metric_count_);
    calls_by_type_.push_back({});
    return place;
  }

  const Forest& forest_;
  const Rows& rows_;
  size_t metric_count_;
  std::vector<MethodSum> sums_;
  std::vector<std::array<uint64_t, 16>> calls_by_type_;
  std::vector<uint32_t> place_;  // from method to sum
  std::unordered_map<uint32_t, uint32_t> odd_place_;
  std::vector<uint32_t> of_row_;  // from row to sum
};

// Returns the caller with the largest value, the first of equal ones, and its share of all.
MainCaller MainOf(const std::unordered_map<uint32_t, double>& by_caller) {
  MainCaller main;
  double whole = 0, most = 0;
  for (const auto& [method, own] : by_caller) {
    whole += own;
    if (own < most || (own == most && method >= IndexOf(main.method))) continue;
    most = own;
    main.method = profile::MethodId{method};
  }
  main.share = whole > most ? most / whole : 1;  // others may be below 0
  return main;
}

}  // namespace

std::vector<MethodSum> SumByMethod(const Forest& forest, bool with_cumulative) {
  Summer summer(forest);
  if (with_cumulative) summer.AddCumulative();
  return summer.Take();
}

double OwnOf(const Forest& forest, const MethodSum& sum) {
  return forest.metrics.empty() ? static_cast<double>(sum.calls) : sum.self[0].base();
}

double WholeOf(const Forest& forest) {
  return forest.metrics.empty() ? static_cast<double>(forest.calls) : forest.metrics[0].base();
}

std::vector<MainCaller> MainCallers(const Forest& forest, std::span<const MethodSum> methods) {
  std::unordered_map<uint32_t, size_t> places;
  for (size_t i = 0; i < methods.size(); ++i) places.emplace(IndexOf(methods[i].method), i);
  const std::vector<Row>& rows = forest.rows.rows;
  const std::vector<NodeIndex> caller_of = AttributedCallers(
      rows,
      [&](NodeIndex row) {
        return (forest.names.Parts(rows[row].method).flags & profile::kMethodNotJava) == 0;
      },
      [&](NodeIndex a, NodeIndex b) { return rows[a].method == rows[b].method; });
  std::vector<std::unordered_map<uint32_t, double>> by_caller(methods.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto place = places.find(IndexOf(rows[i].method));
    const NodeIndex caller = caller_of[i];
    if (place == places.end() || caller == kNoNode) continue;
    const double own =
        forest.metrics.empty() ? static_cast<double>(rows[i].calls) : forest.rows.cell(i, 0).base();
    by_caller[place->second][IndexOf(rows[caller].method)] += own;
  }
  std::vector<MainCaller> callers;
  for (const auto& sums : by_caller) callers.push_back(MainOf(sums));
  return callers;
}

}  // namespace jprof::model
