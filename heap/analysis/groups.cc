#include "heap/analysis/groups.h"

#include <algorithm>
#include <map>

#include "heap/analysis/names.h"
#include "heap/analysis/tree_walk.h"

namespace jprof::heap {
namespace {

// Groups classes by a key, whose group has the name that `name` returns.
template <typename KeyOf, typename NameOf>
Grouping GroupClasses(const Heap& heap, KeyOf key, NameOf name) {
  Grouping grouping;
  std::map<decltype(key(0u)), uint32_t> known;
  for (uint32_t type = 0; type < heap.class_count(); ++type) {
    const auto next = static_cast<uint32_t>(grouping.groups.size());
    const auto [place, is_new] = known.try_emplace(key(type), next);
    if (is_new) grouping.groups.push_back({name(type), type});
    grouping.by_class.push_back(place->second);
  }
  grouping.of_class = grouping.by_class;
  return grouping;
}

// Groups classes by their loader, whose group has the name that `name` returns for its node.
template <typename NameOf>
Grouping GroupByLoader(const Heap& heap, NameOf name) {
  const auto loader = [&](uint32_t type) { return heap.classes[type].record.loader; };
  return GroupClasses(heap, loader, [&](uint32_t type) -> std::string {
    const uint64_t id = loader(type);
    return id == 0 ? "(boot loader)" : name(id, heap.NodeOf(id));
  });
}

// Joins groups of the same name.
Grouping JoinedByName(Grouping grouping) {
  std::vector<GroupSum> groups;
  std::map<std::string, uint32_t> known;
  std::vector<uint32_t> place;  // in `groups`
  for (GroupSum& group : grouping.groups) {
    const auto next = static_cast<uint32_t>(groups.size());
    const auto [found, is_new] = known.try_emplace(group.name, next);
    if (is_new) groups.push_back(std::move(group));
    place.push_back(found->second);
  }
  grouping.groups = std::move(groups);
  for (auto* const of : {&grouping.by_class, &grouping.of_class})
    for (uint32_t& group : *of) group = place[group];
  return grouping;
}

}  // namespace

Grouping ByClass(const Heap& heap) {
  Grouping grouping = GroupClasses(
      heap, [](uint32_t type) { return type; },
      [&](uint32_t type) { return SourceName(heap.classes[type].name); });
  uint32_t mirrors = heap.ClassNamed("java/lang/Class");
  if (mirrors == kNone) {
    mirrors = static_cast<uint32_t>(grouping.groups.size());
    grouping.groups.push_back({"java.lang.Class"});
  }
  std::ranges::fill(grouping.of_class, mirrors);
  return grouping;
}

Grouping ByLoader(const Heap& heap) {
  return GroupByLoader(heap, [&](uint64_t id, uint32_t node) {
    return node == kNone ? fmt::format("0x{:x}", id) : ObjectText(heap, node);
  });
}

Grouping ByPackage(const Heap& heap) {
  const auto package = [&](uint32_t type) { return PackageOf(heap.classes[type].name); };
  return GroupClasses(heap, package, package);
}

Grouping ByClassName(const Heap& heap) { return JoinedByName(ByClass(heap)); }

Grouping ByLoaderName(const Heap& heap) {
  return JoinedByName(GroupByLoader(heap, [&](uint64_t, uint32_t node) {
    return node == kNone ? "(missing loader)" : ObjectTextWithoutId(heap, node);
  }));
}

std::vector<GroupSum> SumGroups(const Heap& heap, const DominatorChildren& children,
                                Grouping grouping) {
  const auto group_of = [&](uint32_t node) {
    return heap.IsClass(node) ? grouping.of_class[node] : grouping.by_class[heap.ClassOf(node)];
  };
  std::vector<GroupSum>& groups = grouping.groups;
  for (const Shape& shape : heap.shapes) {
    GroupSum& group = groups[grouping.by_class[shape.type]];
    group.objects += shape.count;
    group.shallow += shape.count * shape.size;
  }
  for (uint32_t type = kPrimitiveTypes; type < heap.class_count(); ++type) {
    ++groups[grouping.of_class[type]].objects;
    groups[grouping.of_class[type]].shallow += heap.classes[type].mirror_size;
  }
  // What an object of the group dominates is not counted again.
  std::vector<uint32_t> entered(groups.size());
  WalkTree(
      heap.tree, children,
      [&](uint32_t node) {
        const uint32_t number = group_of(node);
        GroupSum& group = groups[number];
        ++group.live_objects;
        group.live_bytes += heap.SizeOf(node);
        if (entered[number]++ == 0) group.retained += heap.RetainedBy(node);
      },
      [&](uint32_t node) { --entered[group_of(node)]; });
  std::erase_if(groups, [](const GroupSum& group) { return group.objects == 0; });
  std::ranges::sort(groups, [](const GroupSum& a, const GroupSum& b) {
    return std::tie(b.retained, b.shallow, a.name) < std::tie(a.retained, a.shallow, b.name);
  });
  return std::move(groups);
}

}  // namespace jprof::heap
