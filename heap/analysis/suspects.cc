#include "heap/analysis/suspects.h"

#include <algorithm>
#include <map>
#include <span>

namespace jprof::heap {
namespace {

uint32_t LargestOf(const Heap& heap, std::span<const uint32_t> nodes) {
  uint32_t largest = kNone;
  for (const uint32_t node : nodes)
    if (largest == kNone || heap.RetainedBy(node) > heap.RetainedBy(largest)) largest = node;
  return largest;
}

// Follows the largest child while it holds most of what its parent holds.
std::vector<uint32_t> ChainFrom(const Heap& heap, const DominatorChildren& children,
                                uint32_t node) {
  constexpr double kMost = 0.7;
  constexpr size_t kLongest = 10'000;
  std::vector<uint32_t> chain = {node};
  while (chain.size() < kLongest) {
    const uint32_t next = LargestOf(heap, children.Of(chain.back()));
    if (next == kNone) break;
    const auto held = static_cast<double>(heap.RetainedBy(chain.back()));
    if (static_cast<double>(heap.RetainedBy(next)) < kMost * held) break;
    chain.push_back(next);
  }
  return chain;
}

struct HeldClass {
  uint64_t objects = 0, retained = 0;
  uint32_t largest = kNone;
};

// Adds up nodes by class; classes themselves are one group, with kNone.
std::map<uint32_t, HeldClass> SumByClass(const Heap& heap, std::span<const uint32_t> nodes) {
  std::map<uint32_t, HeldClass> sums;
  for (const uint32_t node : nodes) {
    HeldClass& sum = sums[heap.ClassOf(node)];
    ++sum.objects;
    sum.retained += heap.RetainedBy(node);
    if (sum.largest == kNone || heap.RetainedBy(node) > heap.RetainedBy(sum.largest))
      sum.largest = node;
  }
  return sums;
}

void AddHeld(const Heap& heap, const DominatorChildren& children, Suspect& suspect) {
  for (const auto& [type, sum] : SumByClass(heap, children.Of(suspect.chain.back()))) {
    if (type == kNone || sum.retained <= suspect.held_retained) continue;
    suspect.held_type = type;
    suspect.held_objects = sum.objects;
    suspect.held_retained = sum.retained;
  }
}

}  // namespace

std::vector<Suspect> FindSuspects(const Heap& heap, const DominatorChildren& children,
                                  double least) {
  const double limit = least * static_cast<double>(heap.tree.size * Heap::kUnit);
  const auto is_large = [&](uint64_t bytes) {
    return bytes > 0 && static_cast<double>(bytes) >= limit;
  };
  std::vector<Suspect> suspects;
  std::vector<uint32_t> others;
  for (const uint32_t node : children.Of(kRoot)) {
    if (is_large(heap.RetainedBy(node))) {
      suspects.push_back({.node = node, .retained = heap.RetainedBy(node)});
    } else {
      others.push_back(node);
    }
  }
  for (const auto& [type, sum] : SumByClass(heap, others)) {
    if (type != kNone && is_large(sum.retained))
      suspects.push_back({.node = sum.largest, .objects = sum.objects, .retained = sum.retained});
  }
  for (Suspect& suspect : suspects) {
    suspect.chain = ChainFrom(heap, children, suspect.node);
    AddHeld(heap, children, suspect);
  }
  std::ranges::sort(suspects, std::greater(), &Suspect::retained);
  return suspects;
}

}  // namespace jprof::heap
