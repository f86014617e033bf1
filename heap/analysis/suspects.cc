#include "heap/analysis/suspects.h"

#include <algorithm>
#include <map>
#include <span>

#include "heap/analysis/names.h"

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

std::string ManyText(const Heap& heap, const Suspect& suspect) {
  return fmt::format("{} objects of {} hold {}; the largest is {}", suspect.objects,
                     ClassText(heap, suspect.node), BytesText(suspect.retained),
                     ObjectText(heap, suspect.node));
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

std::string SuspectText(const Heap& heap, const Suspect& suspect) {
  const double share = 100 * static_cast<double>(suspect.retained) /
                       static_cast<double>(heap.tree.size * Heap::kUnit);
  std::string text =
      suspect.objects > 1
          ? ManyText(heap, suspect)
          : fmt::format("{} holds {}", ObjectText(heap, suspect.node), BytesText(suspect.retained));
  text += fmt::format(", {:.0f} % of the heap", share);
  const uint32_t last = suspect.chain.back();
  if (suspect.objects == 1 && suspect.chain.size() > 1)
    text +=
        fmt::format(", {} of it in {}", BytesText(heap.RetainedBy(last)), ObjectText(heap, last));
  if (suspect.objects == 1 && suspect.held_objects > 1) {
    text += fmt::format(", with {} {} of {}", suspect.held_objects,
                        SourceName(heap.classes[suspect.held_type].name),
                        BytesText(suspect.held_retained));
  }
  return text;
}

std::string BytesText(uint64_t bytes) {
  constexpr const char* kUnits[] = {"bytes", "kB", "MB", "GB", "TB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; unit + 1 < std::size(kUnits) && value >= 999.5; ++unit) value /= 1000;
  if (unit == 0) return fmt::format("{} {}", bytes, bytes == 1 ? "byte" : "bytes");
  return fmt::format("{:.{}f} {}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0, kUnits[unit]);
}

}  // namespace jprof::heap
