#include "model/sums/label_sums.h"

#include <algorithm>
#include <unordered_map>

namespace jprof::model {
namespace {

class LabelSummer {
 public:
  explicit LabelSummer(const Forest& forest) : forest_(forest) {
    const std::vector<Row>& rows = forest.rows.rows;
    label_of_.resize(rows.size());
    for (size_t i = 0; i < rows.size(); ++i) {
      if (IsLabel(rows[i]))
        label_of_[i] = rows[i].method;
      else if (rows[i].parent != kNoNode)
        label_of_[i] = label_of_[rows[i].parent];
      Add(i);
    }
  }

  std::vector<LabelSum> Take() {
    for (LabelSum& sum : sums_) {
      SetSamplingErrors(forest_.metrics, sum.self.data());
      for (MethodSum& method : sum.methods) SetSamplingErrors(forest_.metrics, method.self.data());
      std::ranges::stable_sort(sum.methods, std::greater(), &MethodSum::calls);
    }
    const bool any = std::ranges::any_of(
        sums_, [](const LabelSum& sum) { return sum.label != profile::kRootMethod; });
    if (!any) return {};
    std::ranges::stable_sort(sums_, [&](const LabelSum& a, const LabelSum& b) {
      const bool a_is_none = a.label == profile::kRootMethod;
      const bool b_is_none = b.label == profile::kRootMethod;
      return a_is_none != b_is_none ? b_is_none : WeightOf(a) > WeightOf(b);
    });
    return std::move(sums_);
  }

 private:
  FrameKind KindOf(const Row& row) const { return forest_.names.KindOf(row.method, row.type); }
  bool IsLabel(const Row& row) const { return KindOf(row) == FrameKind::kLabel; }

  double WeightOf(const LabelSum& sum) const {
    return forest_.metrics.empty() ? static_cast<double>(sum.calls) : sum.self[0].base();
  }

  void Add(size_t index) {
    const Row& row = forest_.rows.rows[index];
    LabelSum& sum = SumOf(label_of_[index]);
    AddCells(index, sum.self);
    if (row.parent == kNoNode) return;  // a thread
    if (IsLabel(row)) {
      sum.sets += row.calls;
      return;
    }
    // Rows of classes of locks count how often the locks were asked for.
    if (KindOf(row) != FrameKind::kClass) sum.calls += row.calls;
    MethodSum& method = MethodOf(sum, row);
    method.calls += row.calls;
    method.samples += row.samples;
    ++method.contexts;
    AddCells(index, method.self);
  }

  void AddCells(size_t index, std::vector<Cell>& cells) const {
    for (size_t m = 0; m < cells.size(); ++m) {
      const Cell& cell = forest_.rows.cell(index, m);
      cells[m].raw = static_cast<int64_t>(static_cast<uint64_t>(cells[m].raw) +
                                          static_cast<uint64_t>(cell.raw));
      cells[m].adjust += cell.adjust;
      cells[m].error += cell.error;
    }
  }

  LabelSum& SumOf(profile::MethodId label) {
    const auto [place, is_new] = places_.try_emplace(IndexOf(label), sums_.size());
    if (is_new) {
      sums_.push_back({.label = label, .self = std::vector<Cell>(forest_.metric_count())});
      methods_.emplace_back();
    }
    return sums_[place->second];
  }

  MethodSum& MethodOf(LabelSum& sum, const Row& row) {
    auto& places = methods_[static_cast<size_t>(&sum - sums_.data())];
    const auto [place, is_new] = places.try_emplace(IndexOf(row.method), sum.methods.size());
    if (is_new)
      sum.methods.push_back({.method = row.method,
                             .type = row.type,
                             .self = std::vector<Cell>(forest_.metric_count())});
    return sum.methods[place->second];
  }

  const Forest& forest_;
  std::vector<profile::MethodId> label_of_;  // by row
  std::vector<LabelSum> sums_;
  std::unordered_map<uint32_t, size_t> places_;                // of sums, by label
  std::vector<std::unordered_map<uint32_t, size_t>> methods_;  // for each sum: places by method
};

}  // namespace

std::vector<LabelSum> SumByLabel(const Forest& forest) { return LabelSummer(forest).Take(); }

}  // namespace jprof::model
