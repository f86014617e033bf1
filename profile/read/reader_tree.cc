#include <algorithm>

#include "profile/read/reader.h"
#include "profile/read/tree_builder.h"

namespace jprof::profile {
namespace {

constexpr uint64_t kChunk = 1 << 16;  // nodes read at once
// One record without its metrics needs this much memory for its place and its share of CallTree's
// columns.
constexpr uint64_t kRecordBytes = 40;
constexpr uint64_t kKeyBytes = 40;  // more of it where sites are folded

}  // namespace

Result<CallTree> Reader::ReadTree(uint64_t memory, Sites sites) {
  if (!meta_.options.sites) sites = Sites::kNodes;  // there are none
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

  const uint64_t most = memory / (kRecordBytes + (sites == Sites::kFolded ? kKeyBytes : 0) +
                                  meta_.metrics.size() * sizeof(int64_t));
  TreeBuilder builder(std::min({count, nodes.allocated() / sizeof(Node), most}), most,
                      meta_.metrics, stored, sites, meta_.is(Mode::kScs), threads_, damages_);
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
      const auto index = static_cast<uint32_t>(start + i);
      int64_t* const values = extras.data() + i * extra_count;
      if (window_ && !window_->nodes.Apply(index, chunk[i], values)) {
        damages_.Add("series: a count of the window is below 0 or too large: cut",
                     fmt::format("node {}", index));
      }
      builder.Add(index, chunk[i], values);
    }
  }
  builder.AddParts();
  if (window_) {
    CallTree tree = builder.Take();
    LeaveOutIdle(tree);
    return tree;
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
  auto distributions = ReadDistributions(memory);
  if (!distributions) return std::unexpected(distributions.error());
  builder.AddDistributions(*std::move(distributions));
  return builder.Take();
}

}  // namespace jprof::profile
