#include "heap/analysis/collections.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace jprof::heap {
namespace {

// A class that keeps its elements in an array.
struct CollectionRow {
  std::string_view type, array, size;
  uint32_t slots_each;  // of an element
};
constexpr std::array<CollectionRow, 10> kCollections = {{
    {"java/util/ArrayList", "elementData", "size", 1},
    {"java/util/Vector", "elementData", "elementCount", 1},
    {"java/util/PriorityQueue", "queue", "size", 1},
    {"java/util/HashMap", "table", "size", 1},
    {"java/util/Hashtable", "table", "count", 1},
    {"java/util/WeakHashMap", "table", "size", 1},
    {"java/util/IdentityHashMap", "table", "size", 2},
    {"java/util/concurrent/ConcurrentHashMap", "table", "baseCount", 1},
    {"java/util/concurrent/PriorityBlockingQueue", "queue", "size", 1},
    {"java/util/concurrent/ArrayBlockingQueue", "items", "count", 1},
}};

// Where the fields are in the values of an instance.
struct CollectionFields {
  size_t array = 0, size = 0;
  FieldType size_type = FieldType::kInt;
  uint32_t slots_each = 1;
};

std::optional<CollectionFields> FieldsOf(const Heap& heap, uint32_t type) {
  size_t at = 0;
  for (int supers = 0; type != kNone && supers < 200; ++supers, type = heap.classes[type].super) {
    const HeapClass& one = heap.classes[type];
    const auto row = std::ranges::find(kCollections, one.name, &CollectionRow::type);
    std::optional<size_t> array, size;
    CollectionFields fields;
    for (const InstanceField& field : one.record.fields) {
      const std::string_view name = heap.TextOf(field.name);
      if (row != kCollections.end() && name == row->array) array = at;
      if (row != kCollections.end() && name == row->size) {
        size = at;
        fields.size_type = field.type;
      }
      at += field.type == FieldType::kObject ? heap.header.id_size : RowOf(field.type).size;
    }
    if (array && size) return CollectionFields{*array, *size, fields.size_type, row->slots_each};
  }
  return std::nullopt;
}

class Summer : public DumpVisitor {
 public:
  explicit Summer(const Heap& heap) : heap_(heap), node_(heap.class_count()) {
    for (uint32_t type = 0; type < heap.class_count(); ++type)
      fields_.push_back(heap.classes[type].is_array ? std::nullopt : FieldsOf(heap, type));
    sums.resize(heap.class_count());
  }

  void Instance(const InstanceRecord& record, uint64_t) {
    const uint32_t node = node_++;
    if (node >= heap_.nodes() || !heap_.IsReachable(node)) return;
    const uint32_t type = heap_.ClassOf(node);
    if (fields_[type]) Add(*fields_[type], record, sums[type]);
  }
  void ObjectArray(const ObjectArrayRecord&, uint64_t) { ++node_; }
  void PrimitiveArray(const PrimitiveArrayRecord&, uint64_t) { ++node_; }

  std::vector<CollectionSum> sums;

 private:
  void Add(const CollectionFields& fields, const InstanceRecord& record, CollectionSum& sum) {
    const uint32_t id_size = heap_.header.id_size;
    if (std::max(fields.array, fields.size) > record.values.size()) return;
    const uint64_t id = DumpCursor(record.values.substr(fields.array), id_size).Id();
    DumpCursor size(record.values.substr(fields.size), id_size);
    const uint64_t elements = ReadValue(size, fields.size_type);
    const uint32_t array = id == 0 ? kNone : heap_.NodeOf(id);
    const bool has_array = array != kNone && !heap_.IsClass(array);
    const uint64_t slots = has_array ? heap_.ShapeOf(array).length : 0;
    const uint64_t used = std::min(elements, slots) * fields.slots_each;
    ++sum.collections;
    sum.empty += elements == 0 ? 1 : 0;
    sum.elements += elements <= INT32_MAX ? elements : 0;  // else the dump is damaged
    sum.slots += slots;
    sum.used += std::min(used, slots);
    sum.unused_bytes += (slots - std::min(used, slots)) * heap_.reference_size;
  }

  const Heap& heap_;
  std::vector<std::optional<CollectionFields>> fields_;  // by class
  uint32_t node_;
};

}  // namespace

std::vector<CollectionSum> SumCollections(const Heap& heap,
                                          const std::function<void(double)>& progress) {
  Summer summer(heap);
  ReadDump(heap.file, heap.header, summer, {nullptr, progress});
  std::vector<CollectionSum> sums = std::move(summer.sums);
  for (uint32_t type = 0; type < heap.class_count(); ++type) sums[type].type = type;
  std::erase_if(sums, [](const CollectionSum& sum) { return sum.collections == 0; });
  std::ranges::sort(sums, [](const CollectionSum& a, const CollectionSum& b) {
    return std::tie(b.unused_bytes, a.type) < std::tie(a.unused_bytes, b.type);
  });
  return sums;
}

}  // namespace jprof::heap
