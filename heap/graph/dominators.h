// Dominators: a node dominates another one if every path from the roots to the other one leads
// through it, so that without it the other one would be garbage.
//
// Uses the algorithm semi-NCA (Georgiadis, Tarjan and Werneck, "Finding dominators in practice",
// 2006) over arrays, without recursion. Nothing is linked into lists: a heap may have a hundred
// million objects, and one list may contain all of them.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "common/result.h"
#include "heap/graph/lazy_array.h"
#include "heap/graph/references.h"
#include "heap/graph/size_array.h"

namespace jprof::heap {

inline constexpr uint32_t kRoot = UINT32_MAX;             // dominates all that can be reached
inline constexpr uint32_t kUnreachable = UINT32_MAX - 1;  // has no dominator

// What holds each node, and how much it holds.
struct DominatorTree {
  LazyArray<uint32_t> dominator;  // the immediate one, or kRoot or kUnreachable
  SizeArray retained;             // the sizes of the node and of all that it dominates
  uint32_t reachable = 0;         // nodes
  uint64_t size = 0;              // of all of these
};

struct DominatorInput {
  std::function<uint64_t(uint32_t node)> size;  // in any unit
  // Returns the node that an object refers to by its class, or the node itself.
  std::function<uint32_t(uint32_t node)> class_of;
  std::function<void(const char* step)> progress;  // may be empty
};

// Finds the dominators of the nodes that can be reached from `roots`. Frees `references` as soon as
// they are not needed, unless `keep`. Fails if there are too many references for 32 bits.
Result<DominatorTree> FindDominators(References& references, const std::vector<uint32_t>& roots,
                                     const DominatorInput& input, bool keep);

// The children of each node in the tree of dominators.
class DominatorChildren {
 public:
  explicit DominatorChildren(const DominatorTree& tree);

  // Returns the nodes that `node` or, with kRoot, no node dominates immediately.
  std::span<const uint32_t> Of(uint32_t node) const {
    const size_t place = node == kRoot ? starts_.size() - 2 : node;
    return {children_.begin() + starts_[place], children_.begin() + starts_[place + 1]};
  }

 private:
  LazyArray<uint32_t> starts_;
  LazyArray<uint32_t> children_;
};

}  // namespace jprof::heap
