#include "model/tree/rows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>
#include <utility>

namespace jprof::model {
namespace {

// Adds without overflow, which damaged values could cause in a signed sum.
int64_t Sum(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

// Counts calls and samples by type, for the few rows that had several types.
class TypeVotes {
 public:
  void Add(Row& row, NodeIndex index, FrameKind type, uint64_t seen) {
    if (row.type == type && !row.mixed) return;
    std::array<uint64_t, 16>& votes = votes_[index];
    if (!row.mixed) votes[static_cast<size_t>(row.type)] = row.calls + row.samples + 1;
    row.mixed = true;
    votes[static_cast<size_t>(type)] +=
        seen + 1;  // so that a frame that is only passed through has a type, too
    row.type = static_cast<FrameKind>(std::max_element(votes.begin(), votes.end()) - votes.begin());
  }

 private:
  std::unordered_map<NodeIndex, std::array<uint64_t, 16>> votes_;
};

class Builder {
 public:
  Builder(const profile::CallTree& tree, const std::vector<calibrate::Correction>& corrections,
          const std::vector<bool>& counts_samples, const Merge& merge)
      : tree_(tree), corrections_(corrections), counts_samples_(counts_samples), merge_(merge) {
    rows_.metric_count = tree.metrics.size();
    rows_.has_interrupts = !tree.interrupts.empty();
    rows_.rows.reserve(tree.size());
    rows_.cells.reserve(tree.size() * rows_.metric_count);
    row_of_.resize(tree.size());
  }

  void Add(uint32_t record) {
    const NodeIndex index = PlaceOf(record);
    row_of_[record] = index;
    Row& row = rows_.rows[index];
    if (!tree_.superseded[record] && row.context != record) row.context = profile::kNoRecord;
    const profile::Counts& counts = tree_.counts[record];
    const uint64_t calls = uint64_t{counts.entries[0]} + counts.entries[1];
    const uint64_t exits = uint64_t{counts.exits[0]} + counts.exits[1];
    const uint64_t samples = SamplesOf(record);
    votes_.Add(row, index, profile::TypeOf(tree_.ref[record]), calls + samples);
    row.calls += calls;
    row.samples += samples;
    row.dispatches += tree_.dispatches[record];
    if (rows_.has_interrupts) row.interrupts += tree_.interrupts[record];
    rows_.open_frames +=
        calls - exits;  // wraps for a part whose frames began as another; the sum is right
    if (row.parent != kNoNode) rows_.rows[row.parent].callees += calls;
    if (tree_.superseded[record] && SiteOf(record) != profile::kRootMethod) AddSite(index, record);
    for (size_t m = 0; m < rows_.metric_count; ++m) {
      Cell& cell = rows_.cells[size_t{index} * rows_.metric_count + m];
      cell.raw = Sum(cell.raw, tree_.metrics[m][record]);
      const calibrate::Correction& correction = corrections_[m];
      if (!correction.adjust.empty()) cell.adjust += correction.adjust[record];
      if (!correction.error.empty()) cell.error += correction.error[record];
    }
  }

  Rows Take() {
    for (const profile::Distribution& distribution : tree_.distributions)
      rows_.row_of_distribution.push_back(row_of_[distribution.record]);
    LinkNodes(rows_.rows);
    return std::move(rows_);
  }

 private:
  profile::MethodId SiteOf(uint32_t record) const {
    return tree_.site.empty() ? profile::kRootMethod : tree_.site[record];
  }

  void AddSite(NodeIndex index, uint32_t record) {
    SiteValues values = {.row = index, .site = SiteOf(record), .raw = {}};
    for (const std::vector<int64_t>& metric : tree_.metrics) values.raw.push_back(metric[record]);
    rows_.sites.push_back(std::move(values));
  }

  // Returns what distinguishes the record from others below its parent.
  uint32_t KeyOf(uint32_t record) {
    const uint32_t method = IndexOf(profile::MethodOf(tree_.ref[record]));
    if (tree_.site.empty()) return method;
    const uint64_t both = uint64_t{IndexOf(tree_.site[record])} << 32 | method;
    return site_keys_.FindOrAdd(both, next_key_++);
  }

  uint64_t SamplesOf(uint32_t record) const {
    uint64_t samples = 0;
    for (size_t m = 0; m < counts_samples_.size(); ++m) {
      if (counts_samples_[m]) samples += static_cast<uint64_t>(tree_.metrics[m][record]);
    }
    return samples;
  }

  NodeIndex PlaceOf(uint32_t record) {
    if (tree_.superseded[record]) return row_of_[tree_.parent[record]];
    const bool is_root = tree_.parent[record] == profile::kNoRecord;
    const NodeIndex parent = is_root ? kNoNode : row_of_[tree_.parent[record]];
    if (!merge_.siblings || (is_root && merge_.thread_group.empty())) return Append(record, parent);
    const uint32_t key =
        is_root ? merge_.thread_group[IndexOf(tree_.thread[record])] : KeyOf(record);
    const NodeIndex known = children_.Child(rows_.rows, parent, key);
    return known == rows_.rows.size() ? Append(record, parent) : known;
  }

  NodeIndex Append(uint32_t record, NodeIndex parent) {
    const auto index = static_cast<NodeIndex>(rows_.rows.size());
    Row row;
    row.method = profile::MethodOf(tree_.ref[record]);
    row.type = profile::TypeOf(tree_.ref[record]);
    row.parent = parent;
    row.site = SiteOf(record);
    row.thread = tree_.thread[record];
    row.level = parent == kNoNode ? 0 : rows_.rows[parent].level + 1;
    row.context = record;
    rows_.rows.push_back(row);
    rows_.cells.resize(rows_.rows.size() * rows_.metric_count);
    if (parent == kNoNode) rows_.roots.push_back(index);
    return index;
  }

  const profile::CallTree& tree_;
  const std::vector<calibrate::Correction>& corrections_;
  const std::vector<bool>& counts_samples_;
  const Merge& merge_;
  Rows rows_;
  TypeVotes votes_;
  std::vector<NodeIndex> row_of_;  // from record to row
  ChildMap children_;              // by KeyOf, or by group of threads
  FlatMap site_keys_;              // numbers for pairs of site and method
  uint32_t next_key_ = 0;
};

}  // namespace

Rows BuildRows(const profile::CallTree& tree, const std::vector<calibrate::Correction>& corrections,
               const std::vector<bool>& counts_samples, const Merge& merge) {
  Builder builder(tree, corrections, counts_samples, merge);
  for (size_t record = 0; record < tree.size(); ++record)
    builder.Add(static_cast<uint32_t>(record));
  return builder.Take();
}

std::vector<double> Cumulative(const Rows& rows, size_t metric) {
  std::vector<double> sums(rows.rows.size());
  for (size_t i = 0; i < sums.size(); ++i) {
    sums[i] = rows.metric_count > 0 ? rows.cell(i, metric).base()
                                    : static_cast<double>(rows.rows[i].calls);
  }
  AddUpNodes(rows.rows, sums);
  return sums;
}

void SortRoots(Rows& rows, const std::vector<double>& weight) {
  rows.roots = SortedByWeight(std::move(rows.roots), weight);
}

void SortByWeight(Rows& rows, const std::vector<double>& weight) {
  SortSiblings(rows.rows, [&](std::vector<NodeIndex> siblings) {
    return SortedByWeight(std::move(siblings), weight);
  });
}

}  // namespace jprof::model
