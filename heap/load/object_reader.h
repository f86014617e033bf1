// Reads single objects from the dump again: their fields and elements, which a Heap does not keep.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "heap/load/heap.h"

namespace jprof::heap {

using ObjectRecord =
    std::variant<std::monostate, InstanceRecord, ObjectArrayRecord, PrimitiveArrayRecord>;

// Returns the record of an object, or nothing for a class or if the file has changed.
ObjectRecord ReadObject(const Heap& heap, uint32_t node);

// Returns the id of a node, or 0 if it has none or the file has changed.
uint64_t IdOf(const Heap& heap, uint32_t node);

struct FieldValue {
  std::string_view name;
  FieldType type = FieldType::kObject;
  uint64_t value = 0;
};

// Calls visit(FieldValue) for each field of an instance, its class's first.
template <typename Visit>
void ForEachField(const Heap& heap, const InstanceRecord& record, Visit visit) {
  DumpCursor cursor(record.values, heap.header.id_size);
  uint32_t type = heap.class_by_id.Get(record.class_id, kNone);
  for (; type != kNone && !cursor.empty(); type = heap.classes[type].super) {
    for (const InstanceField& field : heap.classes[type].record.fields) {
      DumpCursor value(cursor.ReadBytes(cursor.SizeOf(field.type)), heap.header.id_size);
      if (!cursor.ok()) return;
      visit(FieldValue{heap.TextOf(field.name), field.type, ReadValue(value, field.type)});
    }
  }
}

// Returns the value of the first field with this name.
std::optional<uint64_t> ValueOf(const Heap& heap, const InstanceRecord& record,
                                std::string_view name);

// Returns the text of a java.lang.String, cut after some characters, or nothing if it is none.
std::optional<std::string> StringOf(const Heap& heap, uint32_t node);

// Returns the elements of a byte[] or char[] as text. In a byte[] they are Latin-1 or, with `wide`,
// UTF-16 in the order of this machine's bytes.
std::string TextOf(const PrimitiveArrayRecord& array, bool wide);

}  // namespace jprof::heap
