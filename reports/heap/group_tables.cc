#include "reports/heap/group_tables.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "profile/files/printable_text.h"
#include "reports/heap/heap_tables.h"

namespace jprof::reports {
namespace {

using heap::GroupSum;

constexpr ColumnHelp kGroupLegend[] = {
    {"OBJECTS", "objects of the group, also those that are garbage"},
    {"SHALLOW", "bytes of these objects themselves, as they are in the JVM's heap"},
    {"RETAINED", "bytes that would become garbage without these objects"},
    {"RET%", "RETAINED in percent of all live bytes"},
};

std::vector<GroupSum> GroupSumsOf(const HeapView& view, const GroupKind& kind) {
  return SumGroups(view.heap, view.children, kind.group(view.heap));
}

// Returns the name of a group; classes have the options' form in text.
std::string ShownGroup(const heap::Heap& heap, const GroupKind& kind, const GroupSum& sum,
                       const HeapOptions& options) {
  const bool is_class = &kind == &kClassGroups && sum.type != heap::kNone;
  return is_class ? ShownClass(heap, sum.type, options) : profile::CleanText(sum.name);
}

Columns<GroupSum> GroupColumns(const HeapView& view, const GroupKind& kind,
                               const HeapOptions& options) {
  Columns<GroupSum> columns(EntryOf(options.format).view);
  AddNumber(columns, {"OBJECTS", 10}, "objects", [](const GroupSum& sum) { return sum.objects; });
  AddBytes(columns, "SHALLOW", "shallow", [](const GroupSum& sum) { return sum.shallow; });
  AddBytes(columns, "RETAINED", "retained", [](const GroupSum& sum) { return sum.retained; });
  columns.Add(kPeople, {"RET%", 6}, [&heap = view.heap](const GroupSum& sum) {
    return Value::Fixed(ShareOf(heap, sum.retained), 1);
  });
  columns.Add(kPeople, {kind.text},
              [&view, &kind, options, text = std::string()](const GroupSum& sum, size_t) mutable {
                text = ShownGroup(view.heap, kind, sum, options);
                return Value::Text(text);
              });
  columns.Add(kCsv | kJson, {kind.name}, [](const GroupSum& sum) { return Value::Text(sum.name); });
  return columns;
}

// The sums of a group in both dumps.
struct GroupChange {
  GroupSum before, after;
  std::string name, shown;  // in the options' form
};

int64_t ChangeOf(uint64_t before, uint64_t after) {
  return static_cast<int64_t>(after) - static_cast<int64_t>(before);
}
int64_t RetainedChange(const GroupChange& one) {
  return ChangeOf(one.before.retained, one.after.retained);
}

std::string SignedBytes(int64_t bytes) {
  if (bytes == 0) return "0";
  return (bytes < 0 ? "-" : "+") + Bytes(static_cast<uint64_t>(std::abs(bytes)));
}

// Returns the changes, the largest first. Groups are the same if they have the same name.
std::vector<GroupChange> GroupChangesOf(const HeapView& before, const HeapView& after,
                                        const GroupKind& kind, const HeapOptions& options) {
  std::map<std::string, GroupChange> by_name;
  for (const auto& [view, sums] :
       {std::pair(&before, &GroupChange::before), std::pair(&after, &GroupChange::after)}) {
    for (GroupSum& sum : SumGroups(view->heap, view->children, kind.group_by_name(view->heap))) {
      GroupChange& change = by_name[sum.name];
      change.name = sum.name;
      change.shown = ShownGroup(view->heap, kind, sum, options);
      change.*sums = std::move(sum);
    }
  }
  std::vector<GroupChange> changes;
  for (auto& [_, change] : by_name) changes.push_back(std::move(change));
  std::ranges::stable_sort(changes, [](const GroupChange& a, const GroupChange& b) {
    return std::abs(RetainedChange(a)) > std::abs(RetainedChange(b));
  });
  return changes;
}

template <typename Of>
void AddGroupChange(Columns<GroupChange>& columns, const std::string& name, Of of) {
  columns.Add(kCsv | kJson, {name + "_before"},
              [of](const GroupChange& one) { return Value::Integer(of(one.before)); });
  columns.Add(kCsv | kJson, {name + "_after"},
              [of](const GroupChange& one) { return Value::Integer(of(one.after)); });
}

template <typename Of>
void AddBytesChange(Columns<GroupChange>& columns, const char* text, Of of) {
  columns.Add(kPeople, {text, 10},
              [of, shown = std::string()](const GroupChange& one, size_t) mutable {
                shown = SignedBytes(ChangeOf(of(one.before), of(one.after)));
                return Value::Text(shown);
              });
}

Columns<GroupChange> GroupChangeColumns(const GroupKind& kind, const HeapOptions& options) {
  const auto objects = [](const GroupSum& sum) { return sum.objects; };
  const auto shallow = [](const GroupSum& sum) { return sum.shallow; };
  const auto retained = [](const GroupSum& sum) { return sum.retained; };
  Columns<GroupChange> columns(EntryOf(options.format).view);
  columns.Add(kPeople, {"OBJECTS", 10}, [](const GroupChange& one) {
    return Value::Signed(ChangeOf(one.before.objects, one.after.objects));
  });
  AddBytesChange(columns, "SHALLOW", shallow);
  AddBytesChange(columns, "RETAINED", retained);
  columns.Add(kPeople, {"NOW", 10},
              [shown = std::string()](const GroupChange& one, size_t) mutable {
                shown = Bytes(one.after.retained);
                return Value::Text(shown);
              });
  AddGroupChange(columns, "objects", objects);
  AddGroupChange(columns, "shallow", shallow);
  AddGroupChange(columns, "retained", retained);
  columns.Add(kPeople, {kind.text}, [](const GroupChange& one) { return Value::Text(one.shown); });
  columns.Add(kCsv | kJson, {kind.name},
              [](const GroupChange& one) { return Value::Text(one.name); });
  return columns;
}

constexpr ColumnHelp kChangeLegend[] = {
    {"OBJECTS", "how many more objects of the group the second dump has"},
    {"SHALLOW", "how many more bytes these objects have themselves"},
    {"RETAINED", "how many more bytes would become garbage without the group's objects"},
    {"NOW", "these bytes in the second dump"},
};

}  // namespace

void PrintGroups(const HeapView& view, const GroupKind& kind, const HeapOptions& options,
                 bool with_head, Output& out) {
  Columns<GroupSum> columns = GroupColumns(view, kind, options);
  const Layout layout = {.head = with_head ? HeapHead(view.heap) : Section(),
                         .rows = kind.rows,
                         .is_prose = &kind == &kLoaderGroups,
                         .legend = kGroupLegend};
  WriteHeapRows(columns, GroupSumsOf(view, kind), layout, options, out);
}

void PrintGroupChange(const HeapView& before, const HeapView& after, const GroupKind& kind,
                      const HeapOptions& options, Output& out) {
  Columns<GroupChange> columns = GroupChangeColumns(kind, options);
  const Layout layout = {.head = {.text =
                                      [&](Output& text) {
                                        HeapHeadText(before.heap, text);
                                        HeapHeadText(after.heap, text);
                                      },
                                  .json =
                                      [&](JsonWriter& json) {
                                        HeapHeadJson(before.heap, "before", json);
                                        HeapHeadJson(after.heap, "after", json);
                                      }},
                         .rows = kind.rows,
                         .is_prose = &kind == &kLoaderGroups,
                         .legend = kChangeLegend};
  WriteHeapRows(columns, GroupChangesOf(before, after, kind, options), layout, options, out);
}

}  // namespace jprof::reports
