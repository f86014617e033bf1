// The tree of dominators, down to a depth.
#include "heap/analysis/largest.h"
#include "heap/analysis/names.h"
#include "heap/load/object_reader.h"
#include "reports/heap/heap_tables.h"
#include "reports/heap/object_tables.h"

namespace jprof::reports {
namespace {

using heap::LargeObject;

constexpr ColumnHelp kDominatorLegend[] = {
    {"RETAINED", "bytes that would become garbage without the object"},
    {"RET%", "the same in percent of all live bytes"},
    {"SHALLOW", "bytes of the object itself"},
    {"OBJECT", "the object; those that it dominates are below it, indented"},
};

Columns<LargeObject> DominatorColumns(const HeapView& view, const HeapOptions& options) {
  const heap::Heap& heap = view.heap;
  Columns<LargeObject> columns(EntryOf(options.format).view);
  const auto retained = [&heap](const LargeObject& row) { return heap.RetainedBy(row.node); };
  columns.Add(kCsv | kJson, {"depth"},
              [](const LargeObject& row) { return Value::Integer(row.depth); });
  AddBytes(columns, "RETAINED", "retained", retained);
  columns.Add(kPeople, {"RET%", 6}, [&heap, retained](const LargeObject& row) {
    return Value::Fixed(ShareOf(heap, retained(row)), 1);
  });
  AddBytes(columns, "SHALLOW", "shallow",
           [&heap](const LargeObject& row) { return heap.SizeOf(row.node); });
  columns.Add(kPeople, {"OBJECT"},
              [&heap, options, text = std::string()](const LargeObject& row, size_t) mutable {
                text = std::string(2 * row.depth, ' ') + ShownObject(heap, row.node, options);
                return Value::Text(text);
              });
  columns.Add(kCsv | kJson, {"class"},
              [&heap, text = std::string()](const LargeObject& row, size_t) mutable {
                text = heap::ClassText(heap, row.node);
                return Value::Text(text);
              });
  columns.Add(kCsv | kJson, {"id"},
              [&heap, text = std::string()](const LargeObject& row, size_t) mutable {
                text = fmt::format("0x{:x}", IdOf(heap, row.node));
                return Value::Text(text);
              });
  return columns;
}

}  // namespace

void PrintDominators(const HeapView& view, const HeapOptions& options, Output& out) {
  constexpr size_t kMostRows = 1000;  // by default, where no screen is a limit
  const size_t screen = EntryOf(options.format).view == kPeople ? kScreenRows : kMostRows;
  const heap::LargestObjects largest =
      FindLargest(view.heap, view.children, options.depth, options.top.value_or(screen));
  Columns<LargeObject> columns = DominatorColumns(view, options);
  const Layout layout = {.head = HeapHead(view.heap),
                         .rows = "dominators",
                         .is_prose = true,
                         .legend = kDominatorLegend};
  WriteHeapRows(columns, largest.objects, layout, options, out, largest.left_out);
}

void PrintLargest(const HeapView& view, const HeapOptions& options, size_t rows, Output& out) {
  const heap::LargestObjects largest = FindLargest(view.heap, view.children, /*levels=*/1, rows);
  HeapOptions all = options;
  all.top = 0;
  Columns<LargeObject> columns = DominatorColumns(view, options);
  WriteHeapRows(columns, largest.objects, {.is_prose = true}, all, out, largest.left_out);
}

}  // namespace jprof::reports
