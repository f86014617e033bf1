#include <algorithm>
#include <optional>
#include <unordered_map>

#include "profile/files/object_metrics.h"
#include "profile/read/reader.h"

namespace jprof::profile {
namespace {

constexpr uint64_t kChunk = 1 << 16;  // nodes read at once
// One record without its metrics needs this much memory for its place and its share of CallTree's
// columns.
constexpr uint64_t kRecordBytes = 40;
constexpr uint32_t kLeftOut = kNoRecord - 1;
// This is reached in two hours at two billion calls per second: 4 thousand records.
constexpr uint64_t kMostWovenCount = uint64_t{1} << 44;

// Maps a node's index to its record, for contexts only. A sparse file may claim 4 billion nodes, so
// memory is allocated only for ranges that contain nodes.
class Places {
 public:
  uint32_t operator[](uint32_t node) const {
    const size_t piece = node / kPiece;
    return piece < pieces_.size() && !pieces_[piece].empty() ? pieces_[piece][node % kPiece]
                                                             : kNoRecord;
  }
  void Set(uint32_t node, uint32_t record) {
    const size_t piece = node / kPiece;
    if (piece >= pieces_.size()) pieces_.resize(piece + 1);
    if (pieces_[piece].empty()) pieces_[piece].resize(kPiece, kNoRecord);
    pieces_[piece][node % kPiece] = record;
  }

 private:
  static constexpr size_t kPiece = 4096;
  std::vector<std::vector<uint32_t>> pieces_;
};

// Checks nodes one by one, in file order, and appends the valid ones to a tree.
class TreeBuilder {
 public:
  // `node_count` is the approximate number of nodes. The first `stored` metrics are in the files.
  // With more than `most` records the caller gives up.
  TreeBuilder(uint64_t node_count, uint64_t most, const std::vector<Metric>& metrics, size_t stored,
              std::vector<Thread>& threads, Damages& damages)
      : most_(most),
        stored_(stored),
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
    // Such a node was recorded before the thread was named and filtered out.
    if (parent == kLeftOut || (is_root && IsFiltered(index))) {
      if (!is_superseded) places_.Set(index, kLeftOut);
      return;
    }
    if (is_root ? node.parent != 0 : !IsParent(parent, node, is_superseded)) {
      damages_.Add("nodes: a node's parent is wrong: left out with its subtree",
                   fmt::format("node {}", index));
      return;
    }
    if (!is_superseded) places_.Set(index, static_cast<uint32_t>(tree_.size()));
    const ThreadIndex thread = is_root ? ThreadOfRoot(index) : tree_.thread[parent];
    if (TypeOf(node.ref) == FrameKind::kWoven) return AddWoven(index, node, thread, parent, extra);
    if (TypeOf(node.ref) == FrameKind::kClass && !is_superseded)
      return AddClass(index, node, thread, parent, extra);
    Counts counts = {{node.entries[0], node.entries[1]}, {node.exits[0], node.exits[1]}};
    if (is_root) counts = {};  // which counts nothing; woven code uses its memory
    Append(node.ref, thread, parent, is_superseded, counts);
    AppendMetrics(node.dispatches, node.self, extra);
  }

  size_t size() const { return tree_.size(); }
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
  void Append(MethodRef ref, ThreadIndex thread, uint32_t parent, bool is_superseded,
              const Counts& counts) {
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
    Append(node.ref, thread, parent, false, {});
    AppendMetrics(node.dispatches, node.self, extra);
    if (asked_ == tree_.metrics.size()) return;
    int64_t& asked = tree_.metrics[asked_].back();  // of merged profiles the value is there
    asked = static_cast<int64_t>(static_cast<uint64_t>(asked) + WovenCount(index, node));
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
  const size_t asked_;   // the place of kAskedMetric; that of no metric if there is none
  std::vector<Thread>& threads_;
  Damages& damages_;
  std::unordered_map<uint32_t, ThreadIndex> thread_of_root_;
  Places places_;
  std::optional<ThreadIndex> unknown_;
  CallTree tree_;
};

}  // namespace

Result<CallTree> Reader::ReadTree(uint64_t memory) {
  const ReaderFile nodes = OpenFile(kNodesFile);
  const uint64_t room = std::min<uint64_t>(nodes.size() / sizeof(Node), kNoRecord);
  const uint64_t count = std::min(header_.node_count, room);
  if (count < header_.node_count) {
    damages_.Add("nodes: cut off: call tree nodes are missing",
                 fmt::format("{} of {} exist", count, header_.node_count));
  }
  const size_t stored = meta_.metrics.size() - (with_interrupts_ ? 1 : 0);
  const size_t extra_count = stored > 1 ? stored - 1 : 0;
  const ReaderFile extra = OpenFile(kExtraFile);
  if (extra.size() / sizeof(int64_t) < count * extra_count) {
    damages_.Add("extra: cut off: values of further metrics are missing and read as 0");
  }

  const uint64_t most = memory / (kRecordBytes + meta_.metrics.size() * sizeof(int64_t));
  TreeBuilder builder(std::min({count, nodes.allocated() / sizeof(Node), most}), most,
                      meta_.metrics, stored, threads_, damages_);
  std::vector<Node> chunk(std::min(count, kChunk));
  std::vector<int64_t> extras(chunk.size() * extra_count);
  const size_t extra_bytes = extra_count * sizeof(int64_t);
  uint64_t start = 0;
  for (; (start = nodes.NextData(start * sizeof(Node)) / sizeof(Node)) < count;
       start += chunk.size()) {
    if (builder.size() > most) return NotEnoughMemory(directory_ + "/" + kNodesFile, memory);
    const uint64_t wanted = std::min<uint64_t>(chunk.size(), count - start);
    const uint64_t got =
        nodes.ReadAt(start * sizeof(Node), chunk.data(), wanted * sizeof(Node)) / sizeof(Node);
    std::fill(extras.begin(), extras.end(), 0);
    extra.ReadAt(start * extra_bytes, extras.data(), got * extra_bytes);
    for (uint64_t i = start == 0 ? 1 : 0; i < got; ++i) {
      builder.Add(static_cast<uint32_t>(start + i), chunk[i], extras.data() + i * extra_count);
    }
  }
  auto counted = ReadKernelCounts(memory);
  if (!counted) return std::unexpected(counted.error());
  if (with_interrupts_ || !counted->empty())
    builder.AddKernelCounts(*counted, meta_.metrics, with_interrupts_);
  auto edges = ReadLockEdges(memory);
  if (!edges) return std::unexpected(edges.error());
  builder.AddLockEdges(*std::move(edges));
  auto live = ReadLive(memory);
  if (!live) return std::unexpected(live.error());
  builder.AddLive(*std::move(live), header_.live_snapshots);
  return builder.Take();
}

}  // namespace jprof::profile
