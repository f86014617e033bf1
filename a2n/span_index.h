// Finds the span that contains an address at a time. A span is a range of addresses with
// a lifetime.
//
// - Spans may overlap in address and in time. Of those that contain both, the one that began last
//   is returned; of those that began together, the one added last.
// - Adding is cheap and may alternate with finding: spans are kept in blocks of growing size, each
//   built once.
// - Finding takes about log^2 of the number of spans, whatever the overlaps.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "a2n/a2n.h"

namespace jprof::a2n {

struct Span {
  uint64_t start = 0, end = 0;              // addresses, end excluded
  Nanos since = kAlways, until = kForever;  // until excluded, kForever if it never ends
  uint32_t id = 0;                          // of the owner

  bool Holds(uint64_t address, Nanos when) const {
    return start <= address && address < end && since <= when &&
           (when < until || until == kForever);
  }
};

class SpanIndex {
 public:
  void Add(const Span& span);  // empty spans are ignored
  const Span* Find(uint64_t address, Nanos when) const;

  const std::vector<Span>& spans() const { return spans_; }  // in order of adding
  bool empty() const { return spans_.empty(); }

 private:
  // A segment tree over the addresses at which the spans of [first, last) begin or end: leaf i is
  // node leaves + i, and a span is listed in the fewest nodes that cover it. Within a node, spans
  // are sorted by `since`.
  struct Block {
    uint32_t first = 0, last = 0;
    std::vector<uint64_t> edges;
    std::vector<uint32_t> heads;  // node i's list: items [heads[i], heads[i + 1])
    std::vector<uint32_t> items;  // indices in spans_
    // The latest `until` of the node's items up to this one, by which a backward search may stop.
    std::vector<Nanos> latest_until;
  };
  void Build(Block& block) const;
  template <typename Visit>
  static void ForEachNode(const Block& block, const Span& span, Visit visit);
  const Span* FindIn(const Block& block, uint64_t address, Nanos when, const Span* best) const;
  void BuildPending() const;

  std::vector<Span> spans_;
  mutable std::vector<Block> blocks_;
  mutable uint32_t built_ = 0;  // how many of spans_ are in blocks
};

}  // namespace jprof::a2n
