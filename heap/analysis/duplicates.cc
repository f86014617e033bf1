#include "heap/analysis/duplicates.h"

#include <algorithm>
#include <functional>
#include <string_view>

namespace jprof::heap {
namespace {

struct Contents {
  uint64_t hash = 0;
  uint32_t node = 0;
};

class Hasher : public DumpVisitor {
 public:
  explicit Hasher(const Heap& heap) : heap_(heap), node_(heap.class_count()) {}

  void Instance(const InstanceRecord&, uint64_t) { ++node_; }
  void ObjectArray(const ObjectArrayRecord&, uint64_t) { ++node_; }
  void PrimitiveArray(const PrimitiveArrayRecord& record, uint64_t) {
    const uint32_t node = node_++;
    if (node >= heap_.nodes() || record.length == 0 || !heap_.IsReachable(node)) return;
    const uint64_t hash = std::hash<std::string_view>()(record.elements);
    contents.push_back(
        {hash ^ heap_.shape_of[node - heap_.class_count()] * 0x9e3779b97f4a7c15u, node});
  }

  std::vector<Contents> contents;

 private:
  const Heap& heap_;
  uint32_t node_;
};

}  // namespace

std::vector<Duplicate> FindDuplicates(const Heap& heap,
                                      const std::function<void(double)>& progress) {
  Hasher hasher(heap);
  ReadDump(heap.file, heap.header, hasher, {nullptr, progress});
  std::ranges::sort(hasher.contents, [](const Contents& a, const Contents& b) {
    return std::tie(a.hash, a.node) < std::tie(b.hash, b.node);
  });
  std::vector<Duplicate> duplicates;
  for (size_t i = 0, end = 0; i < hasher.contents.size(); i = end) {
    const Contents& first = hasher.contents[i];
    while (end < hasher.contents.size() && hasher.contents[end].hash == first.hash) ++end;
    if (end - i > 1) duplicates.push_back({first.node, end - i, heap.SizeOf(first.node)});
  }
  std::ranges::sort(duplicates, [](const Duplicate& a, const Duplicate& b) {
    return std::pair(b.wasted(), a.node) < std::pair(a.wasted(), b.node);
  });
  return duplicates;
}

}  // namespace jprof::heap
