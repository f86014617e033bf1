#include "heap/analysis/paths.h"

#include <algorithm>

#include "heap/load/object_reader.h"

namespace jprof::heap {
namespace {

// A search in breadth from all roots.
class Search {
 public:
  Search(const Heap& heap, const std::vector<bool>& is_wanted)
      : heap_(heap), is_wanted_(is_wanted), from_(heap.nodes()), queue_(heap.nodes()) {}

  // Returns the wanted node that is found first, or kNone.
  uint32_t Find() {
    for (const uint32_t root : heap_.root_nodes) Add(root, kFromRoot);
    for (uint32_t next = 0; next < added_ && found_ == kNone; ++next) {
      const uint32_t node = queue_[next];
      const auto add = [&](uint32_t target) { Add(target, node + 2); };
      heap_.references.ForEach(node, add);
      const uint32_t type = heap_.ClassOf(node);
      if (type != kNone && heap_.classes[type].mirror != kNone) add(heap_.classes[type].mirror);
    }
    return found_;
  }

  // Returns the nodes from a root to `node`.
  std::vector<uint32_t> PathTo(uint32_t node) const {
    std::vector<uint32_t> path = {node};
    while (from_[path.back()] != kFromRoot) path.push_back(from_[path.back()] - 2);
    std::ranges::reverse(path);
    return path;
  }

 private:
  static constexpr uint32_t kFromRoot = 1;

  void Add(uint32_t node, uint32_t from) {
    if (from_[node] != 0) return;
    from_[node] = from;
    queue_[added_++] = node;
    if (found_ == kNone && is_wanted_[node]) found_ = node;
  }

  const Heap& heap_;
  const std::vector<bool>& is_wanted_;
  LazyArray<uint32_t> from_;  // 0, kFromRoot, or the referrer + 2
  LazyArray<uint32_t> queue_;
  uint32_t added_ = 0;
  uint32_t found_ = kNone;
};

std::string FieldOfClass(const Heap& heap, const HeapClass& one, uint64_t id) {
  for (const StaticField& field : one.record.statics)
    if (field.type == FieldType::kObject && field.value == id)
      return fmt::format("static {}", heap.TextOf(field.name));
  if (one.record.loader == id) return "its loader";
  if (one.record.super == id) return "its super class";
  if (one.record.signers == id) return "its signers";
  return one.record.domain == id ? "its protection domain" : "its constants";
}

// Returns what of a node refers to the node `to`.
std::string FieldOf(const Heap& heap, uint32_t node, uint32_t to) {
  const uint64_t id = IdOf(heap, to);
  if (heap.IsClass(node)) return FieldOfClass(heap, heap.classes[node], id);
  const ObjectRecord record = ReadObject(heap, node);
  std::string name;
  if (const auto* const instance = std::get_if<InstanceRecord>(&record)) {
    ForEachField(heap, *instance, [&](const FieldValue& field) {
      if (name.empty() && field.type == FieldType::kObject && field.value == id) name = field.name;
    });
  } else if (const auto* const array = std::get_if<ObjectArrayRecord>(&record)) {
    DumpCursor cursor(array->elements, heap.header.id_size);
    for (uint32_t i = 0; name.empty() && !cursor.empty(); ++i)
      if (cursor.Id() == id) name = fmt::format("[{}]", i);
  }
  if (!name.empty()) return name;
  return heap.classes[heap.ClassOf(node)].mirror == to ? "its class" : "local variable";
}

// Returns the kind of a root from which a path begins: of one that no thread holds.
SubTag KindOfRoot(const Heap& heap, uint32_t node) {
  const auto found = std::ranges::find_if(heap.roots, [&](const Root& root) {
    return heap.NodeOf(root.id) == node && heap.OwnerOf(root) == kNone;
  });
  return found == heap.roots.end() ? SubTag::kRootUnknown : found->kind;
}

}  // namespace

std::optional<RootPath> FindPath(const Heap& heap, const std::vector<bool>& is_wanted) {
  Search search(heap, is_wanted);
  const uint32_t found = search.Find();
  if (found == kNone) return std::nullopt;
  const std::vector<uint32_t> nodes = search.PathTo(found);
  RootPath path;
  path.root = KindOfRoot(heap, nodes.front());
  for (size_t i = 0; i < nodes.size(); ++i) {
    const bool is_last = i + 1 == nodes.size();
    path.steps.push_back({nodes[i], is_last ? "" : FieldOf(heap, nodes[i], nodes[i + 1])});
  }
  return path;
}

}  // namespace jprof::heap
