#include "reports/heap/heap_report.h"

#include "heap/analysis/names.h"
#include "heap/analysis/paths.h"
#include "profile/files/printable_text.h"
#include "reports/heap/group_tables.h"
#include "reports/heap/heap_tables.h"
#include "reports/heap/object_tables.h"
#include "reports/heap/suspect_text.h"
#include "reports/print/fit.h"

namespace jprof::reports {
namespace {

constexpr HeapReport kHeapReports[] = {
    {"histogram", "objects, shallow and retained bytes of each class", PrintGroupsOf<kClassGroups>,
     PrintGroupChangeOf<kClassGroups>},
    {"loaders", "the same by class loader", PrintGroupsOf<kLoaderGroups>,
     PrintGroupChangeOf<kLoaderGroups>},
    {"packages", "the same by package", PrintGroupsOf<kPackageGroups>,
     PrintGroupChangeOf<kPackageGroups>},
    {"dominators", "the objects that hold most, and what they hold, as a tree", PrintDominators,
     nullptr},
    {"suspects", "what holds a tenth of the heap or more, and through which objects", PrintSuspects,
     nullptr},
    {"duplicates", "arrays with the same contents, such as those of equal strings", PrintDuplicates,
     nullptr},
    {"collections", "how full collections are, by class", PrintCollections, nullptr},
};

struct RootPathRow {
  uint32_t node = heap::kNone;
  std::string field;
};

// Returns the rows of a path. The first one has the root in place of a field.
std::vector<RootPathRow> PathRowsOf(const heap::RootPath& path) {
  std::vector<RootPathRow> rows;
  std::string field(heap::RootText(path.root));
  for (const heap::PathStep& step : path.steps) {
    rows.push_back({step.node, field});
    field = step.field;
  }
  return rows;
}

constexpr ColumnHelp kPathLegend[] = {
    {"RETAINED", "bytes that would become garbage without the object"},
    {"BY", "the field of the object above that refers to the object; first, the kind of the root"},
};

Columns<RootPathRow> PathColumns(const heap::Heap& heap, const HeapOptions& options) {
  Columns<RootPathRow> columns(EntryOf(options.format).view);
  AddBytes(columns, "RETAINED", "retained",
           [&heap](const RootPathRow& row) { return heap.RetainedBy(row.node); });
  const auto by = [](const RootPathRow& row) { return Value::Text(row.field); };
  columns.Add(kPeople, {"BY", 28}, by);
  columns.Add(kCsv | kJson, {"by"}, by);
  columns.Add(kPeople, {"OBJECT"},
              [&heap, options, text = std::string()](const RootPathRow& row, size_t) mutable {
                text = ShownObject(heap, row.node, options);
                return Value::Text(text);
              });
  columns.Add(kCsv | kJson, {"object"},
              [&heap, text = std::string()](const RootPathRow& row, size_t) mutable {
                text = heap::ObjectText(heap, row.node);
                return Value::Text(text);
              });
  return columns;
}

}  // namespace

std::span<const HeapReport> HeapReports() { return kHeapReports; }

void PrintHeapSummary(const HeapView& view, const HeapOptions& options, Output& out) {
  constexpr size_t kClasses = 12, kObjects = 8, kSuspects = 4;
  HeapHeadText(view.heap, out);
  HeapOptions part = options;
  part.top = options.top.value_or(kClasses);
  PrintGroups(view, kClassGroups, part, /*with_head=*/false, out);
  out.Text("\n");
  PrintLargest(view, options, options.top.value_or(kObjects), out);
  out.Text("\n");
  std::vector<heap::Suspect> suspects = FindSuspects(view.heap, view.children, kSuspectShare);
  suspects.resize(std::min(suspects.size(), kSuspects));
  for (const heap::Suspect& suspect : suspects) {
    const std::string text = "suspect   " + profile::CleanText(SuspectText(view.heap, suspect));
    out.Text((options.width > 0 ? Cut(text, options.width) : text) + "\n");
  }
  if (suspects.empty() && view.heap.tree.reachable != 0)
    out.Text("suspect   none: no object holds a tenth of the heap\n");
}

Result<void> PrintHeapPath(const HeapView& view, const std::vector<bool>& nodes,
                           const std::string& what, const HeapOptions& options, Output& out) {
  const auto path = FindPath(view.heap, nodes);
  if (!path) return Fail("{} is garbage: no path of strong references leads to it", what);
  Columns<RootPathRow> columns = PathColumns(view.heap, options);
  HeapOptions all = options;
  all.top = options.top.value_or(0);
  const Layout layout = {
      .head = HeapHead(view.heap), .rows = "path", .is_prose = true, .legend = kPathLegend};
  WriteHeapRows(columns, PathRowsOf(*path), layout, all, out);
  return {};
}

}  // namespace jprof::reports
