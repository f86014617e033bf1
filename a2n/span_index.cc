#include "a2n/span_index.h"

#include <algorithm>
#include <numeric>

namespace jprof::a2n {

void SpanIndex::Add(const Span& span) {
  if (span.start < span.end && span.since < span.until) spans_.push_back(span);
}

template <typename Visit>
void SpanIndex::ForEachNode(const Block& block, const Span& span, Visit visit) {
  const auto leaf = [&](uint64_t edge) {
    return static_cast<size_t>(std::ranges::lower_bound(block.edges, edge) - block.edges.begin());
  };
  size_t low = leaf(span.start) + block.edges.size(), high = leaf(span.end) + block.edges.size();
  for (; low < high; low /= 2, high /= 2) {
    if (low & 1) visit(low++);
    if (high & 1) visit(--high);
  }
}

void SpanIndex::Build(Block& block) const {
  block.edges.clear();
  for (uint32_t i = block.first; i < block.last; ++i) {
    block.edges.push_back(spans_[i].start);
    block.edges.push_back(spans_[i].end);
  }
  std::ranges::sort(block.edges);
  const auto doubles = std::ranges::unique(block.edges);
  block.edges.erase(doubles.begin(), doubles.end());

  std::vector<uint32_t> order(block.last - block.first);
  std::iota(order.begin(), order.end(), block.first);
  std::ranges::stable_sort(order, {}, [&](uint32_t i) { return spans_[i].since; });
  block.heads.assign(2 * block.edges.size() + 1, 0);
  for (const uint32_t i : order)
    ForEachNode(block, spans_[i], [&](size_t node) { ++block.heads[node + 1]; });
  std::partial_sum(block.heads.begin(), block.heads.end(), block.heads.begin());
  block.items.resize(block.heads.back());
  block.latest_until.resize(block.heads.back());
  std::vector<uint32_t> next(block.heads.begin(), block.heads.end() - 1);
  for (const uint32_t i : order) {
    ForEachNode(block, spans_[i], [&](size_t node) {
      const uint32_t place = next[node]++;
      block.items[place] = i;
      block.latest_until[place] = spans_[i].until;
      if (place > block.heads[node])
        block.latest_until[place] =
            std::max(block.latest_until[place], block.latest_until[place - 1]);
    });
  }
}

// Builds a block from the pending spans. Blocks that are not larger than the following ones are
// merged into it, so that there are few.
void SpanIndex::BuildPending() const {
  if (built_ == spans_.size()) return;
  Block block{.first = built_, .last = static_cast<uint32_t>(spans_.size())};
  while (!blocks_.empty() &&
         blocks_.back().last - blocks_.back().first <= block.last - block.first) {
    block.first = blocks_.back().first;
    blocks_.pop_back();
  }
  Build(block);
  blocks_.push_back(std::move(block));
  built_ = static_cast<uint32_t>(spans_.size());
}

// Finds the best span. `best` is the best one so far, from a later block or a smaller node. Blocks
// are searched from last to first, so at equal `since` the span already found was added later,
// unless both are in one block: then the index in spans_ decides.
const Span* SpanIndex::FindIn(const Block& block, uint64_t address, Nanos when,
                              const Span* best) const {
  const auto edge = std::ranges::upper_bound(block.edges, address);
  if (edge == block.edges.begin() || edge == block.edges.end()) return best;
  for (size_t node = static_cast<size_t>(edge - block.edges.begin()) - 1 + block.edges.size();
       node > 0; node /= 2) {
    const auto begin = block.items.begin() + block.heads[node],
               end = block.items.begin() + block.heads[node + 1];
    if (begin == end) continue;
    auto item = std::upper_bound(begin, end, when,
                                 [&](Nanos time, uint32_t i) { return time < spans_[i].since; });
    while (item != begin) {
      const Nanos latest = block.latest_until[static_cast<size_t>(--item - block.items.begin())];
      if (latest <= when && latest != kForever) break;
      const Span& span = spans_[*item];
      if (best != nullptr &&
          (span.since < best->since || (span.since == best->since && &span < best)))
        break;
      if (!span.Holds(address, when)) continue;
      best = &span;
      break;
    }
  }
  return best;
}

const Span* SpanIndex::Find(uint64_t address, Nanos when) const {
  BuildPending();
  const Span* best = nullptr;
  for (auto block = blocks_.rbegin(); block != blocks_.rend(); ++block)
    best = FindIn(*block, address, when, best);
  return best;
}

}  // namespace jprof::a2n
