#include "heap/analysis/collections.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "heap/load/object_reader.h"

namespace jprof::heap {
namespace {

// A class that keeps its elements in an array, and their number in a field. Threads that change a
// ConcurrentHashMap at the same time count in cells instead, whose values are a part of the number.
struct CollectionRow {
  std::string_view type, array, size;
  uint32_t slots_each = 1;  // of an element
  std::string_view cells = "";
};
constexpr std::array<CollectionRow, 10> kCollections = {{
    {"java/util/ArrayList", "elementData", "size", 1},
    {"java/util/Vector", "elementData", "elementCount", 1},
    {"java/util/PriorityQueue", "queue", "size", 1},
    {"java/util/HashMap", "table", "size", 1},
    {"java/util/Hashtable", "table", "count", 1},
    {"java/util/WeakHashMap", "table", "size", 1},
    {"java/util/IdentityHashMap", "table", "size", 2},
    {"java/util/concurrent/ConcurrentHashMap", "table", "baseCount", 1, "counterCells"},
    {"java/util/concurrent/PriorityBlockingQueue", "queue", "size", 1},
    {"java/util/concurrent/ArrayBlockingQueue", "items", "count", 1},
}};

// Where the fields are in the values of an instance.
struct CollectionFields {
  size_t array = 0, size = 0;
  FieldType size_type = FieldType::kInt;
  uint32_t slots_each = 1;
  std::optional<size_t> cells;
};

std::optional<CollectionFields> FieldsOf(const Heap& heap, uint32_t type) {
  size_t at = 0;
  for (int supers = 0; type != kNone && supers < 200; ++supers, type = heap.classes[type].super) {
    const HeapClass& one = heap.classes[type];
    const auto found = std::ranges::find(kCollections, one.name, &CollectionRow::type);
    const CollectionRow row = found == kCollections.end() ? CollectionRow() : *found;
    std::optional<size_t> array, size, cells;
    FieldType size_type = FieldType::kInt;
    for (const InstanceField& field : one.record.fields) {
      const auto is = [name = heap.TextOf(field.name)](std::string_view wanted) {
        return !wanted.empty() && name == wanted;
      };
      if (is(row.array)) array = at;
      if (is(row.cells)) cells = at;
      if (is(row.size)) {
        size = at;
        size_type = field.type;
      }
      at += field.type == FieldType::kObject ? heap.header.id_size : RowOf(field.type).size;
    }
    if (array && size) return CollectionFields{*array, *size, size_type, row.slots_each, cells};
  }
  return std::nullopt;
}

// Returns the sum of the values of an array of cells.
uint64_t SumOfCells(const Heap& heap, uint64_t array) {
  constexpr uint32_t kMostCells = 4096;  // more are only in a damaged dump
  const uint32_t node = heap.NodeOf(array);
  if (node == kNone) return 0;
  const ObjectRecord read = ReadObject(heap, node);
  const auto* const cells = std::get_if<ObjectArrayRecord>(&read);
  if (cells == nullptr || cells->length > kMostCells) return 0;
  uint64_t sum = 0;
  for (DumpCursor cursor(cells->elements, heap.header.id_size); !cursor.empty();) {
    const uint32_t cell = heap.NodeOf(cursor.Id());
    const ObjectRecord record = cell == kNone ? ObjectRecord() : ReadObject(heap, cell);
    if (const auto* const instance = std::get_if<InstanceRecord>(&record))
      sum += ValueOf(heap, *instance, "value").value_or(0);
  }
  return sum;
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
    uint64_t elements = ReadValue(size, fields.size_type);
    if (fields.cells && *fields.cells <= record.values.size())
      elements += SumOfCells(heap_, DumpCursor(record.values.substr(*fields.cells), id_size).Id());
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
