#include "reports/view/heap_view.h"

#include <algorithm>
#include <limits>
#include <map>

#include "heap/analysis/names.h"
#include "heap/analysis/tree_cut.h"
#include "reports/heap/group_tables.h"
#include "reports/heap/heap_tables.h"
#include "reports/heap/object_tables.h"
#include "reports/heap/suspect_text.h"

namespace jprof::reports {
namespace {

using heap::TreeRow;
using nlohmann::json;

constexpr std::string_view kClassOfClasses = "java/lang/Class";
constexpr size_t kMostGroups = 20'000;
constexpr size_t kLongestChain = 30;  // of a suspect

// The kinds of rows, by letter.
const json kRowKinds = {{"o", "object"},
                        {"c", "class, with what its static fields hold"},
                        {"g", "objects of one class that are small, but not together"},
                        {"x", "what is too small for a row of its own"}};

char LetterOf(const heap::Heap& heap, const TreeRow& row) {
  if (row.kind == TreeRow::Kind::kOthers) return 'x';
  if (row.kind == TreeRow::Kind::kObjects) return 'g';
  return heap.IsClass(row.node) ? 'c' : 'o';
}

// Returns the JVM's name of a row's class; a class itself is called by its own name.
std::string_view NameOf(const heap::Heap& heap, const TreeRow& row) {
  if (row.kind == TreeRow::Kind::kOthers) return "others";
  if (!heap.IsClass(row.node)) return heap.classes[heap.ClassOf(row.node)].name;
  return row.kind == TreeRow::Kind::kObjects ? kClassOfClasses
                                             : std::string_view(heap.classes[row.node].name);
}

// Returns what tells a row from others of its class.
std::string LabelOf(const heap::Heap& heap, const TreeRow& row) {
  if (row.kind != TreeRow::Kind::kObject || heap.IsClass(row.node)) return "";
  return heap::ObjectText(heap, row.node, "").substr(1);
}

json SizeMetric(const char* name, const char* unit, const char* own, const char* all) {
  return {{"name", name}, {"unit", unit},      {"kind", "count"},
          {"own", own},   {"with_below", all}, {"beside", true}};
}

// Adds the tree of dominators.
void AddTree(const heap::Heap& heap, const heap::TreeCut& cut, ViewNames& names, ViewData& data) {
  ViewTree tree(2);
  std::vector<double> joined;
  std::vector<std::string> labels;
  for (const TreeRow& row : cut.rows) {
    tree.AddRow(row.parent, names.Of(NameOf(heap, row)), LetterOf(heap, row));
    tree.self[0].push_back(static_cast<double>(row.bytes));
    tree.self[1].push_back(static_cast<double>(row.objects));
    joined.push_back(static_cast<double>(row.joined));
    labels.push_back(LabelOf(heap, row));
  }
  data["metrics"] = {SizeMetric("bytes", "bytes", "shallow", "retained"),
                     SizeMetric("objects", "", "own objects", "objects")};
  json described = Describe(tree, "", data);
  described["columns"]["joined"] = data.Add(std::span(joined));
  described["columns"]["labels"] = data.AddNames(labels);
  data["trees"].push_back(std::move(described));
}

// Returns a table of sums. Small groups are left out if there are too many, and the last one has
// what they are together.
json GroupTable(const HeapView& view, const GroupKind& kind, ViewNames& names, ViewData& data) {
  std::vector<uint32_t> name;
  std::vector<double> objects, shallow, retained;
  const auto add = [&](std::string_view text, uint64_t count, uint64_t bytes, double held) {
    name.push_back(names.Of(text));
    objects.push_back(static_cast<double>(count));
    shallow.push_back(static_cast<double>(bytes));
    retained.push_back(held);
  };
  const std::vector<heap::GroupSum> sums =
      SumGroups(view.heap, view.children, kind.group(view.heap));
  const size_t shown = std::min(sums.size(), kMostGroups);
  heap::GroupSum left;
  for (size_t i = 0; i < sums.size(); ++i) {
    const heap::GroupSum& sum = sums[i];
    if (i >= shown) {
      left.objects += sum.objects;
      left.shallow += sum.shallow;
    } else {
      const bool is_class = &kind == &kClassGroups && sum.type != heap::kNone;
      add(is_class ? view.heap.classes[sum.type].name : sum.name, sum.objects, sum.shallow,
          static_cast<double>(sum.retained));
    }
  }
  if (shown < sums.size()) {
    add(fmt::format("others ({})", sums.size() - shown), left.objects, left.shallow,
        std::numeric_limits<double>::quiet_NaN());
  }
  return {{"by", kind.name},
          {"name", data.Add(std::span(name))},
          {"objects", data.Add(std::span(objects))},
          {"shallow", data.Add(std::span(shallow))},
          {"retained", data.Add(std::span(retained))}};
}

// Finds the rows of objects, and of classes whose objects no object holds.
class RowsOfTree {
 public:
  RowsOfTree(const heap::Heap& heap, const heap::TreeCut& cut) : heap_(heap), cut_(cut) {
    for (uint32_t i = 0; i < cut.rows.size(); ++i) {
      const TreeRow& row = cut.rows[i];
      if (row.kind == TreeRow::Kind::kObject) objects_[row.node] = i;
      if (row.kind == TreeRow::Kind::kObjects && row.parent == heap::kNone)
        classes_[heap.ClassOf(row.node)] = i;
    }
  }
  json OfObject(uint32_t node) const { return In(objects_, node); }
  // Returns null for several objects if some of them have rows of their own.
  json Of(const heap::Suspect& suspect) const {
    if (suspect.objects == 1) return OfObject(suspect.node);
    const json row = In(classes_, heap_.ClassOf(suspect.node));
    return !row.is_null() && cut_.rows[row.get<uint32_t>()].joined == suspect.objects ? row
                                                                                      : json();
  }

 private:
  static json In(const std::map<uint32_t, uint32_t>& rows, uint32_t key) {
    const auto found = rows.find(key);
    return found != rows.end() ? json(found->second) : json();
  }

  const heap::Heap& heap_;
  const heap::TreeCut& cut_;
  std::map<uint32_t, uint32_t> objects_, classes_;
};

json Suspects(const HeapView& view, const RowsOfTree& rows) {
  const heap::Heap& heap = view.heap;
  json suspects = json::array();
  for (const heap::Suspect& suspect : FindSuspects(heap, view.children, kSuspectShare)) {
    json chain = json::array();
    for (const uint32_t node : suspect.chain) {
      if (suspect.objects > 1 || chain.size() == kLongestChain) break;
      chain.push_back({{"text", profile::CleanText(ObjectText(heap, node))},
                       {"retained", heap.RetainedBy(node)},
                       {"row", rows.OfObject(node)}});
    }
    suspects.push_back({{"text", profile::CleanText(SuspectText(heap, suspect))},
                        {"retained", suspect.retained},
                        {"row", rows.Of(suspect)},
                        {"chain", std::move(chain)},
                        {"chain_left_out",
                         suspect.objects > 1 ? 0
                                             : suspect.chain.size() -
                                                   std::min(suspect.chain.size(), kLongestChain)}});
  }
  return suspects;
}

void DescribeHeap(const heap::Heap& heap, ViewData& data) {
  for (const auto& [label, text] : HeapFacts(heap)) data.Fact(label, text);
  for (const std::string& note : heap.notes) data.Note(note);
  for (const std::string& damage : HeapDamages(heap)) data.Loss("damaged: " + damage);
}

}  // namespace

ViewData ViewOf(const HeapView& view) {
  const heap::Heap& heap = view.heap;
  ViewData data("heap", heap.path);
  data["frames"] = kRowKinds;
  DescribeHeap(heap, data);
  ViewNames names;
  constexpr heap::CutLimits kLimits;
  const heap::TreeCut cut = CutTree(heap, view.children, kLimits);
  AddTree(heap, cut, names, data);
  json groups = json::array();
  for (const GroupKind* kind : {&kClassGroups, &kPackageGroups, &kLoaderGroups})
    groups.push_back(GroupTable(view, *kind, names, data));
  data["heap"] = {{"least", cut.least},
                  {"levels", kLimits.levels},
                  {"groups", std::move(groups)},
                  {"suspect_share", kSuspectShare},
                  {"suspects", Suspects(view, RowsOfTree(heap, cut))}};
  data["methods"] = data.AddNames(names.all());
  return data;
}

}  // namespace jprof::reports
