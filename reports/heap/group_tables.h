// Tables of sums by class, loader and package, of one dump and of two.
#pragma once

#include "heap/analysis/groups.h"
#include "reports/heap/heap_report.h"

namespace jprof::reports {

// What a group is called: in text, in CSV, and as rows in JSON.
struct GroupKind {
  const char* text;
  const char* name;
  const char* rows;
  heap::Grouping (*group)(const heap::Heap&);
  heap::Grouping (*group_by_name)(const heap::Heap&);  // for two dumps
};

inline constexpr GroupKind kClassGroups = {"CLASS", "class", "classes", heap::ByClass,
                                           heap::ByClassName};
inline constexpr GroupKind kLoaderGroups = {"LOADER", "loader", "loaders", heap::ByLoader,
                                            heap::ByLoaderName};
inline constexpr GroupKind kPackageGroups = {"PACKAGE", "package", "packages", heap::ByPackage,
                                             heap::ByPackage};

// Prints the groups, with a head unless it is printed already.
void PrintGroups(const HeapView& view, const GroupKind& kind, const HeapOptions& options,
                 bool with_head, Output& out);
void PrintGroupChange(const HeapView& before, const HeapView& after, const GroupKind& kind,
                      const HeapOptions& options, Output& out);

template <const GroupKind& kKind>
void PrintGroupsOf(const HeapView& view, const HeapOptions& options, Output& out) {
  PrintGroups(view, kKind, options, /*with_head=*/true, out);
}
template <const GroupKind& kKind>
void PrintGroupChangeOf(const HeapView& before, const HeapView& after, const HeapOptions& options,
                        Output& out) {
  PrintGroupChange(before, after, kKind, options, out);
}

}  // namespace jprof::reports
