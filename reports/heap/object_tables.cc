#include "reports/heap/object_tables.h"

#include "heap/analysis/collections.h"
#include "heap/analysis/duplicates.h"
#include "heap/analysis/names.h"
#include "heap/load/object_reader.h"
#include "model/values/statistics.h"
#include "profile/files/printable_text.h"
#include "reports/heap/heap_tables.h"
#include "reports/heap/suspect_text.h"

namespace jprof::reports {
namespace {

using heap::CollectionSum;
using heap::Duplicate;
using heap::Suspect;

std::string ContentsOf(const heap::Heap& heap, uint32_t node) {
  const heap::ObjectRecord read = heap::ReadObject(heap, node);
  const auto* const array = std::get_if<heap::PrimitiveArrayRecord>(&read);
  const bool is_text = array != nullptr && (array->type == heap::FieldType::kByte ||
                                            array->type == heap::FieldType::kChar);
  return is_text ? "\"" + profile::CleanText(heap::TextOf(*array, /*wide=*/false)) + "\"" : "";
}

template <typename Row, typename Of>
void AddMadeText(Columns<Row>& columns, unsigned views, const char* name, Of of) {
  columns.Add(views, {name}, [of, text = std::string()](const Row& row, size_t) mutable {
    text = of(row);
    return Value::Text(text);
  });
}

constexpr ColumnHelp kSuspectLegend[] = {
    {"RETAINED", "bytes that would become garbage without the object, or the objects of the class"},
    {"RET%", "the same in percent of all live bytes"},
    {"SUSPECT", "what holds them, and where they are"},
};
constexpr ColumnHelp kDuplicateLegend[] = {
    {"WASTED", "bytes of all copies but one"},
    {"COPIES", "arrays with the same contents"},
    {"BYTES", "of each"},
    {"CONTENTS", "the class, the length and the beginning of the contents as Latin-1"},
};
constexpr ColumnHelp kCollectionLegend[] = {
    {"UNUSED", "bytes of the slots of arrays that no element takes"},
    {"FILL%", "slots that elements take at most, in percent of all"},
    {"COUNT", "collections of the class"},
    {"EMPTY", "those without elements"},
    {"ELEMENTS", "elements of all of them"},
};

}  // namespace

void PrintSuspects(const HeapView& view, const HeapOptions& options, Output& out) {
  const heap::Heap& heap = view.heap;
  Columns<Suspect> columns(EntryOf(options.format).view);
  AddBytes(columns, "RETAINED", "retained", [](const Suspect& one) { return one.retained; });
  columns.Add(kPeople, {"RET%", 6},
              [&heap](const Suspect& one) { return Value::Fixed(ShareOf(heap, one.retained), 1); });
  columns.Add(kCsv | kJson, {"objects"},
              [](const Suspect& one) { return Value::Integer(one.objects); });
  AddMadeText(columns, kCsv | kJson, "class",
              [&heap](const Suspect& one) { return heap::ClassText(heap, one.node); });
  AddMadeText(columns, kCsv | kJson, "id",
              [&heap](const Suspect& one) { return fmt::format("0x{:x}", IdOf(heap, one.node)); });
  AddMadeText(columns, kCsv | kJson, "in",
              [&heap](const Suspect& one) { return heap::ObjectText(heap, one.chain.back()); });
  const auto text = [&heap](const Suspect& one) { return SuspectText(heap, one); };
  AddMadeText(columns, kPeople, "SUSPECT",
              [text](const Suspect& one) { return profile::CleanText(text(one)); });
  AddMadeText(columns, kCsv | kJson, "text", text);
  const Layout layout = {
      .head = HeapHead(heap), .rows = "suspects", .is_prose = true, .legend = kSuspectLegend};
  WriteHeapRows(columns, FindSuspects(heap, view.children, kSuspectShare), layout, options, out);
}

void PrintDuplicates(const HeapView& view, const HeapOptions& options, Output& out) {
  const heap::Heap& heap = view.heap;
  Columns<Duplicate> columns(EntryOf(options.format).view);
  AddBytes(columns, "WASTED", "wasted", [](const Duplicate& one) { return one.wasted(); });
  AddNumber(columns, {"COPIES", 9}, "copies", [](const Duplicate& one) { return one.copies; });
  AddBytes(columns, "BYTES", "size", [](const Duplicate& one) { return one.size; });
  AddMadeText(columns, kPeople, "CONTENTS", [&heap, options](const Duplicate& one) {
    return fmt::format("{} {} {}", ShownClass(heap, heap.ClassOf(one.node), options),
                       heap.ShapeOf(one.node).length, ContentsOf(heap, one.node));
  });
  AddMadeText(columns, kCsv | kJson, "class",
              [&heap](const Duplicate& one) { return heap::ClassText(heap, one.node); });
  columns.Add(kCsv | kJson, {"length"}, [&heap](const Duplicate& one) {
    return Value::Integer(heap.ShapeOf(one.node).length);
  });
  AddMadeText(columns, kCsv | kJson, "contents",
              [&heap](const Duplicate& one) { return ContentsOf(heap, one.node); });
  const Layout layout = {
      .head = HeapHead(heap), .rows = "duplicates", .is_prose = true, .legend = kDuplicateLegend};
  WriteHeapRows(columns, FindDuplicates(heap, view.progress), layout, options, out);
}

void PrintCollections(const HeapView& view, const HeapOptions& options, Output& out) {
  const heap::Heap& heap = view.heap;
  Columns<CollectionSum> columns(EntryOf(options.format).view);
  AddBytes(columns, "UNUSED", "unused_bytes",
           [](const CollectionSum& sum) { return sum.unused_bytes; });
  columns.Add(kPeople, {"FILL%", 6}, [](const CollectionSum& sum) {
    return sum.slots == 0 ? Value::Missing()
                          : Value::Fixed(model::PercentOf(sum.used, sum.slots), 1);
  });
  AddNumber(columns, {"COUNT", 9}, "collections",
            [](const CollectionSum& sum) { return sum.collections; });
  AddNumber(columns, {"EMPTY", 9}, "empty", [](const CollectionSum& sum) { return sum.empty; });
  AddNumber(columns, {"ELEMENTS", 10}, "elements",
            [](const CollectionSum& sum) { return sum.elements; });
  columns.Add(kCsv | kJson, {"slots"},
              [](const CollectionSum& sum) { return Value::Integer(sum.slots); });
  columns.Add(kCsv | kJson, {"used"},
              [](const CollectionSum& sum) { return Value::Integer(sum.used); });
  AddMadeText(columns, kPeople, "CLASS", [&heap, options](const CollectionSum& sum) {
    return ShownClass(heap, sum.type, options);
  });
  AddMadeText(columns, kCsv | kJson, "class", [&heap](const CollectionSum& sum) {
    return heap::SourceName(heap.classes[sum.type].name);
  });
  const Layout layout = {
      .head = HeapHead(heap), .rows = "collections", .legend = kCollectionLegend};
  WriteHeapRows(columns, SumCollections(heap, view.progress), layout, options, out);
}

}  // namespace jprof::reports
