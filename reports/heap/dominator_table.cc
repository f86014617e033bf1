// The tree of dominators, down to a depth.
#include <algorithm>

#include "heap/analysis/names.h"
#include "reports/heap/heap_tables.h"
#include "reports/heap/object_tables.h"

namespace jprof::reports {
namespace {

struct DominatorRow {
  uint32_t node = heap::kNone;
  uint32_t depth = 0;
};

constexpr ColumnHelp kDominatorLegend[] = {
    {"RETAINED", "bytes that would become garbage without the object"},
    {"RET%", "the same in percent of all live bytes"},
    {"SHALLOW", "bytes of the object itself"},
    {"OBJECT", "the object; those that it dominates are below it, indented"},
};

// Collects the rows of the largest objects.
class DominatorRows {
 public:
  // Objects below `least` bytes are left out.
  DominatorRows(const HeapView& view, uint32_t depth, uint64_t least)
      : view_(view), depth_(depth), least_(least) {}

  std::vector<DominatorRow> Collect() {
    Add(heap::kRoot, 0);
    return std::move(rows_);
  }

 private:
  void Add(uint32_t parent, uint32_t depth) {
    if (depth == depth_) return;
    const auto [first, last] = view_.children.Of(parent);
    std::vector<uint32_t> nodes;
    std::copy_if(first, last, std::back_inserter(nodes),
                 [this](uint32_t node) { return view_.heap.RetainedBy(node) >= least_; });
    std::ranges::stable_sort(nodes, std::greater(),
                             [this](uint32_t node) { return view_.heap.RetainedBy(node); });
    for (const uint32_t node : nodes) {
      rows_.push_back({node, depth});
      Add(node, depth + 1);
    }
  }

  const HeapView& view_;
  const uint32_t depth_;
  const uint64_t least_;
  std::vector<DominatorRow> rows_;
};

std::vector<DominatorRow> RowsAbove(const HeapView& view, uint32_t depth, double percent) {
  const double bytes = static_cast<double>(view.heap.tree.size * heap::Heap::kUnit);
  return DominatorRows(view, depth, static_cast<uint64_t>(bytes * percent / 100)).Collect();
}

// Returns the rows of objects above the smallest share with which they are at most `most`.
std::vector<DominatorRow> RowsFitting(const HeapView& view, uint32_t depth, size_t most) {
  const double share = SmallestShare([&](double percent) {
    // Without a limit there may be as many rows as objects.
    return percent >= 0.1 && RowsAbove(view, depth, percent).size() <= most;
  });
  return RowsAbove(view, depth, share);
}

Columns<DominatorRow> DominatorColumns(const HeapView& view, const HeapOptions& options) {
  const heap::Heap& heap = view.heap;
  Columns<DominatorRow> columns(EntryOf(options.format).view);
  const auto retained = [&heap](const DominatorRow& row) { return heap.RetainedBy(row.node); };
  columns.Add(kCsv | kJson, {"depth"},
              [](const DominatorRow& row) { return Value::Integer(row.depth); });
  AddBytes(columns, "RETAINED", "retained", retained);
  columns.Add(kPeople, {"RET%", 6}, [&heap, retained](const DominatorRow& row) {
    return Value::Fixed(ShareOf(heap, retained(row)), 1);
  });
  AddBytes(columns, "SHALLOW", "shallow",
           [&heap](const DominatorRow& row) { return heap.SizeOf(row.node); });
  columns.Add(kPeople, {"OBJECT"},
              [&heap, options, text = std::string()](const DominatorRow& row, size_t) mutable {
                text = std::string(2 * row.depth, ' ') + ShownObject(heap, row.node, options);
                return Value::Text(text);
              });
  columns.Add(kCsv | kJson, {"class"},
              [&heap, text = std::string()](const DominatorRow& row, size_t) mutable {
                text = heap::ClassText(heap, row.node);
                return Value::Text(text);
              });
  columns.Add(kCsv | kJson, {"id"},
              [&heap, text = std::string()](const DominatorRow& row, size_t) mutable {
                text = fmt::format("0x{:x}", heap.IdOf(row.node));
                return Value::Text(text);
              });
  return columns;
}

}  // namespace

void PrintDominators(const HeapView& view, const HeapOptions& options, Output& out) {
  constexpr size_t kMostRows = 1000;  // by default, where no screen is a limit
  const size_t screen = EntryOf(options.format).view == kPeople ? kScreenRows : kMostRows;
  const std::vector<DominatorRow> rows =
      options.top == 0u ? DominatorRows(view, options.depth, 0).Collect()
                        : RowsFitting(view, options.depth, options.top.value_or(screen));
  Columns<DominatorRow> columns = DominatorColumns(view, options);
  const Layout layout = {.head = HeapHead(view.heap),
                         .rows = "dominators",
                         .is_prose = true,
                         .legend = kDominatorLegend};
  WriteHeapRows(columns, rows, layout, options, out);
}

void PrintLargest(const HeapView& view, const HeapOptions& options, size_t rows, Output& out) {
  std::vector<DominatorRow> largest = RowsFitting(view, 1, rows);
  largest.resize(std::min(largest.size(), rows));
  Columns<DominatorRow> columns = DominatorColumns(view, options);
  WriteHeapRows(columns, largest, {.is_prose = true}, options, out);
}

}  // namespace jprof::reports
