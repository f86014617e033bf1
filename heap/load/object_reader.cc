#include "heap/load/object_reader.h"

#include <algorithm>

namespace jprof::heap {
namespace {

constexpr size_t kMostCharacters = 60;

// Stops at one object, counted from where reading begins.
class OneObject : public DumpVisitor {
 public:
  explicit OneObject(uint32_t skipped) : left_(skipped) {}

  bool IsDone() const { return is_done_; }
  void Instance(const InstanceRecord& record, uint64_t) { Take(record); }
  void ObjectArray(const ObjectArrayRecord& record, uint64_t) { Take(record); }
  void PrimitiveArray(const PrimitiveArrayRecord& record, uint64_t) { Take(record); }

  ObjectRecord found;

 private:
  template <typename Record>
  void Take(const Record& record) {
    is_done_ = left_-- == 0;
    if (is_done_) found = record;
  }

  uint32_t left_;
  bool is_done_ = false;
};

// Appends a character of the basic plane as UTF-8. Surrogates are replaced.
void Append(uint16_t unit, std::string& text) {
  const uint32_t c = unit >= 0xd800 && unit < 0xe000 ? 0xfffd : unit;
  if (c < 0x80) {
    text += static_cast<char>(c);
  } else if (c < 0x800) {
    text += static_cast<char>(0xc0 | c >> 6);
    text += static_cast<char>(0x80 | (c & 0x3f));
  } else {
    text += static_cast<char>(0xe0 | c >> 12);
    text += static_cast<char>(0x80 | (c >> 6 & 0x3f));
    text += static_cast<char>(0x80 | (c & 0x3f));
  }
}

}  // namespace

ObjectRecord ReadObject(const Heap& heap, uint32_t node) {
  if (heap.IsClass(node)) return {};
  const uint32_t object = node - heap.class_count();
  const uint64_t place = heap.places[object / Heap::kPlaces];
  const auto after =
      std::ranges::upper_bound(heap.segments, place, {}, &std::pair<size_t, size_t>::first);
  if (after == heap.segments.begin()) return {};
  const size_t end = std::prev(after)->second;
  OneObject visitor(object % Heap::kPlaces);
  const DumpReading reading;
  DumpReader<OneObject> reader(heap.file, heap.header, visitor, reading);
  reader.Read(reader.ReadSubRecords(place, end, /*is_open=*/false));
  return visitor.found;
}

uint64_t IdOf(const Heap& heap, uint32_t node) {
  if (heap.IsClass(node)) return heap.classes[node].id;
  const auto id = [](const auto& record) -> uint64_t {
    if constexpr (requires { record.id; }) return record.id;
    return 0;
  };
  return std::visit(id, ReadObject(heap, node));
}

std::optional<uint64_t> ValueOf(const Heap& heap, const InstanceRecord& record,
                                std::string_view name) {
  std::optional<uint64_t> value;
  ForEachField(heap, record, [&](const FieldValue& field) {
    if (!value && field.name == name) value = field.value;
  });
  return value;
}

std::string TextOf(const PrimitiveArrayRecord& array, bool wide) {
  DumpCursor cursor(array.elements, 8);
  std::string text;
  const bool is_chars = array.type == FieldType::kChar;
  for (size_t i = 0; i < kMostCharacters && !cursor.empty(); ++i) {
    Append(is_chars ? cursor.Number<uint16_t>()
           : wide   ? cursor.Read<uint16_t>()
                    : cursor.Number<uint8_t>(),
           text);
  }
  return text + (cursor.empty() ? "" : "...");
}

std::optional<std::string> StringOf(const Heap& heap, uint32_t node) {
  const uint32_t type = heap.ClassOf(node);
  if (type == kNone || heap.classes[type].name != "java/lang/String") return std::nullopt;
  const ObjectRecord read = ReadObject(heap, node);
  const auto* const record = std::get_if<InstanceRecord>(&read);
  if (record == nullptr) return std::nullopt;
  const uint32_t value = heap.NodeOf(ValueOf(heap, *record, "value").value_or(0));
  if (value == kNone) return std::nullopt;
  const ObjectRecord elements = ReadObject(heap, value);
  const auto* const array = std::get_if<PrimitiveArrayRecord>(&elements);
  if (array == nullptr) return std::nullopt;
  return TextOf(*array, ValueOf(heap, *record, "coder").value_or(0) != 0);
}

}  // namespace jprof::heap
