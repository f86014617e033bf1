// Builds the tree of a profile from its nodes (Reader::ReadTree).
#pragma once

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/flat_map.h"
#include "profile/files/kernel_counts.h"
#include "profile/files/lock_edge.h"
#include "profile/files/object_metrics.h"
#include "profile/read/places.h"
#include "profile/read/reader.h"

namespace jprof::profile {

inline constexpr uint32_t kLeftOut = kNoRecord - 1;
inline constexpr uint64_t kMostWovenCount = uint64_t{1} << 44;  // two hours at 2 GHz: 4096 records

// Checks nodes one by one, in file order, and appends the valid ones to a tree.
class TreeBuilder {
 public:
  // `node_count` is the approximate number of nodes. The first `stored` metrics are in the files.
  // With more than `most` records the caller gives up. With `by_kind` a method has a node for each
  // kind of frame.
  TreeBuilder(uint64_t node_count, uint64_t most, const std::vector<Metric>& metrics, size_t stored,
              Sites sites, bool by_kind, std::vector<Thread>& threads, Damages& damages)
      : most_(most),
        stored_(stored),
        sites_(sites),
        by_kind_(by_kind),
        asked_(static_cast<size_t>(std::ranges::find(metrics, kAskedMetric, &Metric::name) -
                                   metrics.begin())),
        threads_(threads),
        damages_(damages) {
    for (uint32_t i = 0; i < threads.size(); ++i)
      thread_of_root_.try_emplace(threads[i].record.root, ThreadIndex{i});
    tree_.metrics.resize(metrics.size());
    for (auto& metric : tree_.metrics) metric.reserve(node_count);
    tree_.ref.reserve(node_count);
    tree_.parent.reserve(node_count);
    tree_.superseded.reserve(node_count);
    tree_.thread.reserve(node_count);
    tree_.counts.reserve(node_count);
    tree_.dispatches.reserve(node_count);
  }

  // `extra` contains the values of the metrics beyond the first.
  void Add(uint32_t index, const Node& node, const int64_t* extra) {
    if (node.ref == kNoMethodRef || TypeOf(node.ref) == FrameKind::kBlock) return;
    const bool is_superseded = node.more == kSuperseded;
    const bool is_root = MethodOf(node.ref) == kRootMethod && !is_superseded;
    const uint32_t parent = is_root || node.parent >= index ? kNoRecord : places_[node.parent];
    // It was recorded before the thread was named and filtered out.
    if (parent == kLeftOut || (is_root && IsFiltered(index))) {
      if (!is_superseded) places_.Set(index, kLeftOut);
      return;
    }
    if (is_root ? node.parent != 0 : !IsParent(parent, node, is_superseded)) {
      damages_.Add("nodes: a node's parent is wrong: left out with its subtree",
                   fmt::format("node {}", index));
      return;
    }
    if (TypeOf(node.ref) == FrameKind::kSite && sites_ != Sites::kNodes)
      return AddSite(index, node, parent, extra);
    if (!is_superseded && !is_root && sites_ == Sites::kFolded) {
      uint32_t& known = contexts_[uint64_t{parent} << 32 | KeyOf(node.ref)];
      if (known != FlatMap::kNone) return AddToContext(index, node, known, extra);
      known = static_cast<uint32_t>(tree_.size());
    }
    if (!is_superseded) places_.Set(index, static_cast<uint32_t>(tree_.size()));
    if (sites_ == Sites::kApart) site_ = is_superseded ? kRootMethod : SiteAt(node.parent);
    const ThreadIndex thread = is_root ? ThreadOfRoot(index) : tree_.thread[parent];
    if (HasOneCount(node.ref)) return AddWoven(index, node, thread, parent, extra);
    if (TypeOf(node.ref) == FrameKind::kClass && !is_superseded)
      return AddClass(index, node, thread, parent, extra);
    Counts counts = {{node.entries[0], node.entries[1]}, {node.exits[0], node.exits[1]}};
    if (is_root || TypeOf(node.ref) == FrameKind::kSite)
      counts = {};  // they count nothing; woven code uses the memory
    Append(node.ref, thread, parent, is_superseded, counts);
    AppendMetrics(node.dispatches, node.self, extra);
  }

  // Adds superseded records for what did not fit into those of contexts. They follow all contexts.
  void AddParts() {
    for (const Part& part : parts_) {
      Append(part.ref, tree_.thread[part.context], part.context, true, part.counts);
      AppendMetrics(part.dispatches, part.self, part.extra.data());
    }
    parts_.clear();
  }

  // Returns the number of records. A part needs more memory until it is added.
  size_t size() const { return tree_.size() + kPartRecords * parts_.size(); }
  CallTree Take() { return std::move(tree_); }

  // Adds the relations whose nodes are in the tree. An owner may be unknown.
  void AddLockEdges(std::vector<LockEdge> edges) {
    for (LockEdge& edge : edges) {
      edge.from = places_[edge.from];
      edge.to = places_[edge.to];
      const bool owned = edge.to < kLeftOut || edge.kind == LockEdgeKind::kWait;
      if (edge.from < kLeftOut && owned) tree_.lock_edges.push_back(edge);
    }
  }

  // Adds the records of the complete snapshots whose nodes are in the tree.
  void AddLive(std::vector<LiveRecord> records, uint64_t snapshots) {
    tree_.live_times.resize(std::min<uint64_t>(snapshots, records.size()));
    for (LiveRecord& record : records) {
      record.last = std::min(record.last, static_cast<uint32_t>(tree_.live_times.size()));
      if (record.first == 0 || record.first > record.last) continue;
      if (record.node == 0) tree_.live_times[record.first - 1] = record.bytes;
      record.node = record.node != 0 ? places_[record.node] : kNoRecord;
      if (record.node < kLeftOut) tree_.live.push_back(record);
    }
  }

  // Adds the distributions whose nodes are in the tree.
  void AddDistributions(std::vector<Distribution> distributions) {
    for (Distribution& distribution : distributions) {
      distribution.record = places_[distribution.record];
      if (distribution.record < kLeftOut) tree_.distributions.push_back(std::move(distribution));
    }
  }

  // Adds what the kernel counted: its dispatches are exact and replace those of the nodes.
  // `with_interrupts` is the metric from which the last one is computed.
  void AddKernelCounts(const std::vector<KernelCounts>& counted, const std::vector<Metric>& metrics,
                       std::optional<size_t> with_interrupts) {
    tree_.dispatches.assign(tree_.size(), 0);
    tree_.interrupts.assign(tree_.size(), 0);
    if (with_interrupts) tree_.metrics.back() = tree_.metrics[*with_interrupts];
    for (const KernelCounts& counts : counted) {
      const uint32_t record = places_[counts.node];
      if (record >= kLeftOut) continue;
      tree_.dispatches[record] += counts.dispatches;
      tree_.interrupts[record] += counts.interrupts;
      if (!with_interrupts) continue;
      constexpr double kMostTicks = 1e18;  // what is more is damage
      const auto ticks = static_cast<uint64_t>(std::min(
          static_cast<double>(counts.interrupt_ns) / metrics[*with_interrupts].scale, kMostTicks));
      int64_t& value = tree_.metrics.back()[record];
      value = static_cast<int64_t>(static_cast<uint64_t>(value) - ticks);
    }
  }

 private:
  static constexpr size_t kPartRecords = 4;
  // Values of a context whose record has no space for them or is of another kind.
  struct Part {
    MethodRef ref;
    uint32_t context;
    Counts counts;
    uint32_t dispatches = 0;
    int64_t self = 0;
    std::vector<int64_t> extra;
  };

  uint32_t KeyOf(MethodRef ref) const {
    return by_kind_ ? std::to_underlying(ref) : IndexOf(MethodOf(ref));
  }

  // Returns the site that a node is, or kRootMethod if it is none.
  MethodId SiteAt(uint32_t node) const {
    const uint32_t site = site_of_[node];
    return site != kNoRecord ? MethodId{site} : kRootMethod;
  }

  // Adds the values of a site to its parent.
  void AddSite(uint32_t index, const Node& node, uint32_t parent, const int64_t* extra) {
    places_.Set(index, parent);
    if (sites_ == Sites::kFolded) return AddValues(parent, tree_.ref[parent], {}, node, extra);
    site_of_.Set(index, IndexOf(MethodOf(node.ref)));
    const bool is_empty =
        node.self == 0 && node.dispatches == 0 &&
        std::all_of(extra, extra + ExtraMetrics(), [](int64_t value) { return value == 0; });
    if (is_empty) return;
    site_ = MethodOf(node.ref);
    Append(tree_.ref[parent], tree_.thread[parent], parent, true, {});
    AppendMetrics(node.dispatches, node.self, extra);
  }

  // Adds the values of a node to a context that is called from another site, too.
  void AddToContext(uint32_t index, const Node& node, uint32_t context, const int64_t* extra) {
    places_.Set(index, context);
    const bool is_class = TypeOf(node.ref) == FrameKind::kClass;
    if (!is_class && !HasOneCount(node.ref)) {
      return AddValues(context, node.ref,
                       {{node.entries[0], node.entries[1]}, {node.exits[0], node.exits[1]}}, node,
                       extra);
    }
    AddValues(context, node.ref, {}, node, extra);
    uint64_t count = WovenCount(index, node);
    if (is_class) return AddAsked(context, count);
    while (count != 0) {
      const auto part = static_cast<uint32_t>(std::min<uint64_t>(count, 0xffffffffu));
      AddValues(context, node.ref, {{part, 0}, {part, 0}}, {}, nullptr);
      count -= part;
    }
  }

  // Adds counts, and the metrics of a node. `extra` is null if it has none.
  void AddValues(uint32_t context, MethodRef ref, const Counts& more, const Node& node,
                 const int64_t* extra) {
    Counts& counts = tree_.counts[context];
    const auto fits = [](uint32_t a, uint32_t b) { return a <= 0xffffffffu - b; };
    bool all_fit = ref == tree_.ref[context] && fits(tree_.dispatches[context], node.dispatches);
    for (const int k : {0, 1}) {
      all_fit &= fits(counts.entries[k], more.entries[k]) && fits(counts.exits[k], more.exits[k]);
    }
    if (!all_fit) {
      std::vector<int64_t> values(ExtraMetrics());
      if (extra != nullptr) std::copy_n(extra, values.size(), values.begin());
      return parts_.push_back({ref, context, more, node.dispatches, node.self, std::move(values)});
    }
    for (const int k : {0, 1}) {
      counts.entries[k] += more.entries[k];
      counts.exits[k] += more.exits[k];
    }
    tree_.dispatches[context] += node.dispatches;
    if (tree_.metrics.empty()) return;
    AddWrapping(tree_.metrics[0][context], node.self);
    for (size_t m = 0; extra != nullptr && m < ExtraMetrics(); ++m)
      AddWrapping(tree_.metrics[m + 1][context], extra[m]);
  }

  size_t ExtraMetrics() const { return stored_ > 1 ? stored_ - 1 : 0; }

  // Adds with overflow, which damaged values may cause.
  static void AddWrapping(int64_t& sum, int64_t value) {
    sum = static_cast<int64_t>(static_cast<uint64_t>(sum) + static_cast<uint64_t>(value));
  }

  void Append(MethodRef ref, ThreadIndex thread, uint32_t parent, bool is_superseded,
              const Counts& counts) {
    if (sites_ == Sites::kApart) tree_.site.push_back(site_);
    tree_.thread.push_back(thread);
    tree_.ref.push_back(ref);
    tree_.parent.push_back(parent);
    tree_.superseded.push_back(is_superseded);
    tree_.counts.push_back(counts);
  }

  // `extra` contains the values of the metrics beyond the first. If it is null, all are 0.
  void AppendMetrics(uint32_t dispatches, int64_t first, const int64_t* extra) {
    tree_.dispatches.push_back(dispatches);
    if (tree_.metrics.empty()) return;
    tree_.metrics[0].push_back(first);
    for (size_t m = 1; m < stored_; ++m)
      tree_.metrics[m].push_back(extra != nullptr ? extra[m - 1] : 0);
  }

  uint64_t WovenCount(uint32_t index, const Node& node) {
    const uint64_t count = node.entries[0] | uint64_t{node.entries[1]} << 32;
    if (count <= kMostWovenCount) return count;
    damages_.Add("nodes: a count is too large to be true: left out", fmt::format("node {}", index));
    return 0;
  }

  // Adds a class of objects. It is no call: its count is a metric.
  void AddClass(uint32_t index, const Node& node, ThreadIndex thread, uint32_t parent,
                const int64_t* extra) {
    const auto record = static_cast<uint32_t>(tree_.size());
    Append(node.ref, thread, parent, false, {});
    AppendMetrics(node.dispatches, node.self, extra);
    AddAsked(record, WovenCount(index, node));
  }
  // The value of merged profiles is in their file.
  void AddAsked(uint32_t record, uint64_t asked) {
    if (asked_ != tree_.metrics.size())
      AddWrapping(tree_.metrics[asked_][record], static_cast<int64_t>(asked));
  }

  // Adds a node with a 64-bit count, of which each record takes what fits into its counters: the
  // context's own first, then as many superseded records as are necessary. Every entry has an exit.
  void AddWoven(uint32_t index, const Node& node, ThreadIndex thread, uint32_t parent,
                const int64_t* extra) {
    uint64_t count = WovenCount(index, node);
    const auto context = static_cast<uint32_t>(tree_.size());
    for (bool is_superseded = false; (count != 0 && size() <= most_) || !is_superseded;
         is_superseded = true) {
      const auto part = static_cast<uint32_t>(std::min<uint64_t>(count, 0xffffffffu));
      count -= part;
      if (is_superseded) site_ = kRootMethod;
      Append(node.ref, thread, is_superseded ? context : parent, is_superseded,
             {{part, 0}, {part, 0}});
      if (is_superseded)
        AppendMetrics(0, 0, nullptr);
      else
        AppendMetrics(node.dispatches, node.self, extra);
    }
  }

  bool IsParent(uint32_t parent, const Node& node, bool is_superseded) const {
    return parent != kNoRecord &&
           (!is_superseded || MethodOf(tree_.ref[parent]) == MethodOf(node.ref));
  }

  bool IsFiltered(uint32_t root) const {
    const auto found = thread_of_root_.find(root);
    return found != thread_of_root_.end() &&
           (threads_[IndexOf(found->second)].record.flags & kThreadFiltered) != 0;
  }

  // Returns the thread of a root. A root without a thread record belongs to a thread whose record
  // is damaged or not yet written.
  ThreadIndex ThreadOfRoot(uint32_t node) {
    const auto found = thread_of_root_.find(node);
    if (found != thread_of_root_.end()) return found->second;
    damages_.Add("control: a call tree belongs to no thread record",
                 fmt::format("root node {}", node));
    if (!unknown_) {
      unknown_ = static_cast<ThreadIndex>(threads_.size());
      threads_.push_back({{.root = node}, "(unknown)"});
    }
    return *unknown_;
  }

  const uint64_t most_;
  const size_t stored_;  // how many of the metrics are in the files
  const Sites sites_;
  const bool by_kind_;
  const size_t asked_;  // the place of kAskedMetric; that of no metric if there is none
  std::vector<Thread>& threads_;
  Damages& damages_;
  std::unordered_map<uint32_t, ThreadIndex> thread_of_root_;
  Places places_;
  std::optional<ThreadIndex> unknown_;
  FlatMap contexts_;             // with kFolded: by the parent's record and KeyOf
  std::vector<Part> parts_;      // likewise
  Places site_of_;               // with kApart: the method id of each node that is a site
  MethodId site_ = kRootMethod;  // likewise: that of the next record
  CallTree tree_;
};

}  // namespace jprof::profile
