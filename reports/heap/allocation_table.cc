#include "reports/heap/allocation_table.h"

#include <algorithm>
#include <map>

#include "heap/analysis/groups.h"
#include "heap/analysis/names.h"
#include "model/sums/object_sums.h"
#include "model/values/statistics.h"
#include "reports/heap/heap_tables.h"
#include "reports/print/options.h"

namespace jprof::reports {
namespace {

constexpr char kOutsideMethods[] = "(outside any method)";
constexpr size_t kMethodsOfAClass = 3;  // in text
constexpr size_t kFramesOfText = 6;

// A class with its objects in the dump, or a place that allocated objects of it.
struct AllocationRow {
  heap::GroupSum sum;  // of a class
  bool is_class = false;
  uint64_t objects = 0, bytes = 0;  // allocated
  std::string place;                // where, if it is not a class
};

constexpr ColumnHelp kAllocationLegend[] = {
    {"LIVE", "objects of the class in the dump, without garbage"},
    {"BYTES", "bytes of these objects themselves"},
    {"ALLOCATED", "objects that the profile has counted, of the class or in the context"},
    {"AB", "their bytes"},
    {"LEFT%", "LIVE in percent of ALLOCATED; more than 100 if they are not of one run"},
    {"NAME", "the class; below it, after <, the methods that allocated its objects"},
};

// What a profile has counted of each class, by the JVM's name.
class Allocations {
 public:
  explicit Allocations(model::Forest& profile)
      : profile_(profile), objects_(PlaceOf("objects")), bytes_(PlaceOf("bytes")) {
    const auto rank = [this](const model::ObjectSum& sum) {
      return static_cast<int64_t>(BytesOf(sum));
    };
    for (model::ObjectSum& sum : model::SumByClass(profile, rank))
      by_class_.emplace(profile.names.Of(sum.method), std::move(sum));
  }

  const model::ObjectSum* Find(const std::string& name) const {
    const auto found = by_class_.find(name);
    return found == by_class_.end() ? nullptr : &found->second;
  }
  uint64_t ObjectsOf(const model::ObjectSum& sum) const { return ValueOf(sum, objects_); }
  uint64_t BytesOf(const model::ObjectSum& sum) const { return ValueOf(sum, bytes_); }

  // Returns the methods that allocated a class, those with most bytes first.
  std::vector<AllocationRow> MethodsOf(const model::ObjectSum& sum, model::NameForm form) {
    std::vector<AllocationRow> rows;
    for (const model::ObjectSum& caller : sum.callers)
      rows.push_back({.objects = ObjectsOf(caller),
                      .bytes = BytesOf(caller),
                      .place = NameOf(caller.method, form)});
    return rows;
  }

  // Returns the contexts that allocated it, as "method < caller < ...", likewise.
  std::vector<AllocationRow> ContextsOf(const model::ObjectSum& sum, model::NameForm form,
                                        size_t frames) {
    std::vector<AllocationRow> rows;
    for (size_t i = 0; i < profile_.rows.rows.size(); ++i) {
      if (profile_.rows.rows[i].method != sum.method) continue;
      rows.push_back({.objects = Cell(i, objects_),
                      .bytes = Cell(i, bytes_),
                      .place = PathOf(i, form, frames)});
    }
    std::ranges::stable_sort(rows, std::greater(), &AllocationRow::bytes);
    return rows;
  }

 private:
  std::optional<size_t> PlaceOf(std::string_view metric) const {
    for (size_t m = 0; m < profile_.metrics.size(); ++m)
      if (profile_.metrics[m].info.name == metric) return m;
    return std::nullopt;
  }
  static uint64_t Natural(int64_t value) {
    return static_cast<uint64_t>(std::max<int64_t>(0, value));
  }
  static uint64_t ValueOf(const model::ObjectSum& sum, std::optional<size_t> metric) {
    return metric ? Natural(sum.values[*metric]) : 0;
  }
  uint64_t Cell(size_t row, std::optional<size_t> metric) const {
    return metric ? Natural(profile_.rows.cell(row, *metric).raw) : 0;
  }
  std::string NameOf(profile::MethodId method, model::NameForm form) {
    if (method == profile::kRootMethod) return kOutsideMethods;
    return std::string(profile_.names.In(form, method));
  }
  std::string PathOf(size_t row, model::NameForm form, size_t frames) {
    std::string text;
    for (uint32_t at = profile_.rows.rows[row].parent; at != model::kNoNode;
         at = profile_.rows.rows[at].parent) {
      const profile::MethodId method = profile_.rows.rows[at].method;
      if (method == profile::kRootMethod) break;  // the thread
      if (frames-- == 0) return text + " < ...";
      text += (text.empty() ? "" : " < ") + NameOf(method, form);
    }
    return text.empty() ? kOutsideMethods : text;
  }

  model::Forest& profile_;
  const std::optional<size_t> objects_, bytes_;
  std::map<std::string, model::ObjectSum, std::less<>> by_class_;
};

std::string ClassNameOf(const heap::Heap& heap, const heap::GroupSum& sum) {
  return sum.type == heap::kNone ? "java/lang/Class" : heap.classes[sum.type].name;
}

// Returns the classes of the dump, those with most live bytes first. Classes of the same name are
// one, because a profile does not tell them apart.
std::vector<heap::GroupSum> ClassesOf(const HeapView& view) {
  std::vector<heap::GroupSum> sums =
      SumGroups(view.heap, view.children, heap::ByClassName(view.heap));
  std::ranges::stable_sort(sums, std::greater(), &heap::GroupSum::live_bytes);
  return sums;
}

Columns<AllocationRow> AllocationColumns(const heap::Heap& heap, const HeapOptions& options) {
  Columns<AllocationRow> columns(EntryOf(options.format).view);
  const auto of_class = [](auto value) {
    return [value](const AllocationRow& row) {
      return row.is_class ? Value::Integer(value(row)) : Value::Missing();
    };
  };
  const auto live = of_class([](const AllocationRow& row) { return row.sum.live_objects; });
  const auto bytes = of_class([](const AllocationRow& row) { return row.sum.live_bytes; });
  columns.Add(kPeople, {"LIVE", 10}, live);
  columns.Add(kPeople, {"BYTES", 12}, bytes);
  columns.Add(kCsv | kJson, {"live_objects"}, live);
  columns.Add(kCsv | kJson, {"live_bytes"}, bytes);
  AddNumber(columns, {"ALLOCATED", 10}, "allocated_objects",
            [](const AllocationRow& row) { return row.objects; });
  AddNumber(columns, {"AB", 12}, "allocated_bytes",
            [](const AllocationRow& row) { return row.bytes; });
  columns.Add(kPeople, {"LEFT%", 6}, [](const AllocationRow& row) {
    return row.is_class && row.objects > 0
               ? Value::Fixed(model::PercentOf(row.sum.live_objects, row.objects), 1)
               : Value::Missing();
  });
  columns.Add(kPeople, {"NAME"},
              [&heap, options, text = std::string()](const AllocationRow& row, size_t) mutable {
                text = !row.is_class                 ? "  < " + row.place
                       : row.sum.type == heap::kNone ? row.sum.name
                                                     : ShownClass(heap, row.sum.type, options);
                return Value::Text(text);
              });
  columns.Add(kCsv | kJson, {"class"},
              [](const AllocationRow& row) { return Value::Text(row.sum.name); });
  columns.Add(kCsv | kJson, {"context"}, [](const AllocationRow& row) {
    return row.is_class ? Value::Missing() : Value::Text(row.place);
  });
  return columns;
}

// Returns the rows of a class and of what allocated its objects: methods, or whole contexts.
std::vector<AllocationRow> RowsOf(const heap::Heap& heap, const heap::GroupSum& sum,
                                  Allocations& allocations, bool contexts,
                                  const HeapOptions& options) {
  const bool for_people = EntryOf(options.format).view == kPeople;
  const model::NameForm form = for_people ? options.names : model::NameForm::kJvm;
  std::vector<AllocationRow> rows = {{.sum = sum, .is_class = true}};
  const model::ObjectSum* const found = allocations.Find(ClassNameOf(heap, sum));
  if (found == nullptr) return rows;
  rows[0].objects = allocations.ObjectsOf(*found);
  rows[0].bytes = allocations.BytesOf(*found);
  const size_t frames = for_people ? kFramesOfText : SIZE_MAX;
  const model::NameForm path_form = for_people ? ShortOf(form) : form;
  std::vector<AllocationRow> places = contexts ? allocations.ContextsOf(*found, path_form, frames)
                                               : allocations.MethodsOf(*found, form);
  if (for_people && !contexts) places.resize(std::min(places.size(), kMethodsOfAClass));
  for (AllocationRow& place : places) {
    place.sum.name = sum.name;
    rows.push_back(std::move(place));
  }
  return rows;
}

}  // namespace

Result<void> PrintAllocations(const HeapView& view, model::Forest& profile, const std::string& only,
                              const HeapOptions& options, Output& out) {
  if (!model::HasObjects(profile))
    return WrongUse(
        "the profile has no allocated objects; record them with: jprof objects -- java");
  std::vector<heap::GroupSum> classes = ClassesOf(view);
  if (!only.empty())
    std::erase_if(classes, [&](const heap::GroupSum& sum) { return sum.name != only; });
  if (classes.empty()) return WrongUse("{} has no object of a class {}", view.heap.path, only);
  Allocations allocations(profile);
  std::vector<AllocationRow> rows;
  for (const heap::GroupSum& sum : classes)
    std::ranges::move(RowsOf(view.heap, sum, allocations, !only.empty(), options),
                      std::back_inserter(rows));
  Columns<AllocationRow> columns = AllocationColumns(view.heap, options);
  const Layout layout = {
      .head = HeapHead(view.heap), .rows = "allocations", .legend = kAllocationLegend};
  WriteHeapRows(columns, rows, layout, options, out);
  return {};
}

}  // namespace jprof::reports
