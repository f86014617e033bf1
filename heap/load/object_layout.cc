#include "heap/load/object_layout.h"

#include <algorithm>

namespace jprof::heap {

uint64_t ArraySize(const ObjectLayout& layout, uint32_t element, uint32_t length) {
  const uint64_t start = element == 8 ? layout.wide_array : layout.array;
  return Aligned(start + uint64_t{element} * length, layout.alignment);
}

namespace {

// The sizes of primitive fields, the largest first, and the number of references.
struct FieldSizes {
  std::vector<uint32_t> primitives;
  uint32_t references = 0;

  explicit FieldSizes(std::span<const FieldType> fields) {
    for (const FieldType type : fields) {
      if (type == FieldType::kObject) {
        ++references;
      } else {
        primitives.push_back(RowOf(type).size);
      }
    }
    std::ranges::sort(primitives, std::greater());
  }
};

}  // namespace

void FieldPlaces::Add(const ObjectLayout& layout, std::span<const FieldType> fields) {
  const FieldSizes sizes(fields);
  for (const uint32_t size : sizes.primitives) Place(size);
  for (uint32_t i = 0; i < sizes.references; ++i) Place(layout.reference);
}

uint64_t StaticSize(const ObjectLayout& layout, std::span<const FieldType> fields) {
  const FieldSizes sizes(fields);
  uint64_t end = uint64_t{sizes.references} * layout.reference;
  for (const uint32_t size : sizes.primitives) end = Aligned(end, size) + size;
  return Aligned(end, 8);
}

void FieldPlaces::Place(uint64_t size) {
  auto best = gaps_.end();
  for (auto gap = gaps_.begin(); gap != gaps_.end(); ++gap) {
    const bool fits = Aligned(gap->at, size) + size <= gap->at + gap->size;
    if (fits && (best == gaps_.end() || gap->size <= best->size)) best = gap;
  }
  if (best == gaps_.end()) {
    const uint64_t at = Aligned(end_, size);
    if (at > end_) gaps_.push_back({end_, at - end_});
    end_ = at + size;
    return;
  }
  const uint64_t at = Aligned(best->at, size);
  const Gap before = {best->at, at - best->at};
  const Gap after = {at + size, best->at + best->size - at - size};
  best = gaps_.erase(best);
  if (after.size > 0) best = gaps_.insert(best, after);
  if (before.size > 0) gaps_.insert(best, before);
}

}  // namespace jprof::heap
