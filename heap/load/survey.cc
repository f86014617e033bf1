#include "heap/load/survey.h"

#include <algorithm>

namespace jprof::heap {
namespace {

constexpr uint32_t kMostObjects = UINT32_MAX - (1u << 26);  // numbers for classes are left

class Surveyor : public DumpVisitor {
 public:
  explicit Surveyor(Heap& heap)
      : heap_(heap),
        most_(heap.file.bytes().size() / kLeastRecord + 1),
        ids_(most_),
        shapes_(most_) {
    for (const PrimitiveRow& row : kPrimitives)
      heap_.classes.push_back({.name = std::string(row.array), .is_array = true});
  }

  void Segment(size_t start, size_t end) { heap_.segments.emplace_back(start, end); }
  void Text(uint64_t id, std::string_view text) {
    const auto next = static_cast<uint32_t>(heap_.texts.size());
    if (heap_.text_by_id.FindOrAdd(id, next) == next) heap_.texts.push_back(text);
  }
  void LoadClass(uint64_t id, uint64_t name) { names_.emplace_back(ClassWith(id), name); }
  void OnRoot(const Root& root) {
    if (root.kind == SubTag::kRootThread)
      heap_.thread_by_serial.FindOrAdd(root.thread, static_cast<uint32_t>(heap_.roots.size()));
    heap_.roots.push_back(root);
  }
  void Class(const ClassRecord& record) {
    HeapClass& one = heap_.classes[ClassWith(record.id)];
    if (one.record.id == 0) one.record = record;
  }
  void Instance(const InstanceRecord& record, uint64_t place) {
    Add(record.id, ClassWith(record.class_id), 0, place);
  }
  void ObjectArray(const ObjectArrayRecord& record, uint64_t place) {
    const uint32_t type = ClassWith(record.class_id);
    heap_.classes[type].is_array = true;
    Add(record.id, type, record.length, place);
  }
  void PrimitiveArray(const PrimitiveArrayRecord& record, uint64_t place) {
    Add(record.id, static_cast<uint32_t>(record.type) - kFirstPrimitive, record.length, place);
  }

  Result<void> Finish() {
    if (too_many_) return Fail("{} has more than 4 billion objects", heap_.path);
    for (const auto& [type, name] : names_) heap_.classes[type].name = heap_.TextOf(name);
    for (HeapClass& one : heap_.classes)
      if (one.name.empty()) one.name = fmt::format("unknown/Class{:x}", one.id);
    heap_.shape_of = PackedArray(heap_.objects, static_cast<uint32_t>(heap_.shapes.size()));
    for (uint32_t i = 0; i < heap_.objects; ++i) heap_.shape_of.Set(i, shapes_[i]);
    shapes_ = {};
    heap_.ids = ObjectIds(ids_, heap_.objects);
    return {};
  }

 private:
  static constexpr size_t kLeastRecord = 14;  // bytes of an object

  uint32_t ClassWith(uint64_t id) {
    if (id == last_id_ && last_ != kNone) return last_;
    last_id_ = id;
    last_ = heap_.class_by_id.FindOrAdd(id, heap_.class_count());
    if (last_ == heap_.class_count()) heap_.classes.push_back({.id = id});
    return last_;
  }

  uint32_t ShapeWith(uint32_t type, uint32_t length) {
    const auto next = static_cast<uint32_t>(heap_.shapes.size());
    const uint32_t shape = shape_by_key_.FindOrAdd(uint64_t{type} << 32 | length, next);
    if (shape == next) heap_.shapes.push_back({.type = type, .length = length});
    return shape;
  }

  void Add(uint64_t id, uint32_t type, uint32_t length, uint64_t place) {
    if (heap_.objects == kMostObjects) too_many_ = true;
    if (too_many_) return;
    const uint32_t object = heap_.objects++;
    if (object % Heap::kPlaces == 0) heap_.places.push_back(place);
    ids_[object] = id;
    shapes_[object] = ShapeWith(type, length);
    ++heap_.shapes[shapes_[object]].count;
  }

  Heap& heap_;
  const size_t most_;
  LazyArray<uint64_t> ids_;
  LazyArray<uint32_t> shapes_;
  FlatMap shape_by_key_;
  std::vector<std::pair<uint32_t, uint64_t>> names_;  // a class and the id of its name
  uint64_t last_id_ = 0;
  uint32_t last_ = kNone;
  bool too_many_ = false;
};

// Breaks circles of super classes, which only a damaged dump has.
void LinkSupers(Heap& heap) {
  for (HeapClass& one : heap.classes)
    one.super = one.record.super == 0 ? kNone : heap.class_by_id.Get(one.record.super, kNone);
  std::vector<uint32_t> seen_from(heap.classes.size(), kNone);
  for (uint32_t type = 0; type < heap.class_count(); ++type) {
    uint32_t at = type;
    for (; seen_from[at] == kNone; at = heap.classes[at].super) {
      seen_from[at] = type;
      const uint32_t super = heap.classes[at].super;
      if (super == kNone) break;
      if (seen_from[super] == type) heap.classes[at].super = kNone;
      if (heap.classes[at].super == kNone) break;
    }
  }
}

void LinkMirrors(Heap& heap) {
  for (uint32_t type = kPrimitiveTypes; type < heap.class_count(); ++type) {
    HeapClass& one = heap.classes[type];
    one.mirror = type;
    if (one.name.starts_with('[')) one.is_array = true;
    const auto row = std::ranges::find(kPrimitives, one.name, &PrimitiveRow::array);
    if (row != kPrimitives.end()) heap.classes[row - kPrimitives.begin()].mirror = type;
  }
}

bool IsWeak(std::string_view name) {
  return name == "java/lang/ref/WeakReference" || name == "java/lang/ref/PhantomReference";
}

// Finds where an instance has ids of objects that it holds. Its own fields come first, then those
// of each super class.
void FindReferences(Heap& heap, HeapClass& one) {
  constexpr int kMostSupers = 200;  // more are only in a damaged dump
  uint32_t at = 0;
  int supers = 0;
  for (const HeapClass* owner = &one;; owner = &heap.classes[owner->super]) {
    one.is_weak = one.is_weak || IsWeak(owner->name);
    const bool is_reference = owner->name == "java/lang/ref/Reference";
    for (const InstanceField& field : owner->record.fields) {
      const bool holds = !(one.is_weak && is_reference && heap.TextOf(field.name) == "referent");
      if (field.type == FieldType::kObject && holds) one.references.push_back(at);
      at += field.type == FieldType::kObject ? heap.header.id_size : RowOf(field.type).size;
    }
    if (owner->super == kNone || ++supers > kMostSupers) break;
  }
  one.values = at;
}

}  // namespace

Result<void> Survey(Heap& heap, const std::function<void(double)>& progress) {
  Surveyor surveyor(heap);
  ReadDump(heap.file, heap.header, surveyor, {&heap.problems, progress});
  if (auto finished = surveyor.Finish(); !finished) return finished;
  LinkSupers(heap);
  LinkMirrors(heap);
  for (HeapClass& one : heap.classes) FindReferences(heap, one);
  return {};
}

}  // namespace jprof::heap
