// Sums of objects by class, class loader or package.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "heap/load/heap.h"

namespace jprof::heap {

struct GroupSum {
  std::string name;
  uint32_t type = kNone;  // a class of the group
  uint64_t objects = 0;
  uint64_t shallow = 0;                       // bytes of the objects themselves
  uint64_t live_objects = 0, live_bytes = 0;  // the same of those that can be reached
  uint64_t retained = 0;                      // bytes that would be free without these objects
};

// The groups of nodes: by_class[type] of objects, of_class[type] of the class itself.
struct Grouping {
  std::vector<uint32_t> by_class, of_class;
  std::vector<GroupSum> groups;  // without sums
};

// By class: class objects are instances of java.lang.Class.
Grouping ByClass(const Heap& heap);
// By the loader of the class; by its package. A class itself belongs where its instances do.
Grouping ByLoader(const Heap& heap);
Grouping ByPackage(const Heap& heap);

// The same with names that another dump has, too: classes of the same name are one group, and so
// are loaders of the same class and name.
Grouping ByClassName(const Heap& heap);
Grouping ByLoaderName(const Heap& heap);

// Adds up the groups, and returns those with objects, the largest retained first. Requires the
// children of the heap's tree.
std::vector<GroupSum> SumGroups(const Heap& heap, const DominatorChildren& children,
                                Grouping grouping);

}  // namespace jprof::heap
