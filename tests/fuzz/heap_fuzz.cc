// libFuzzer: reads any bytes as a heap dump, finds dominators and makes every report's data. There
// must be no crash, no sanitizer report and no endless loop, and sizes must add up.
#include <sys/mman.h>

#include <algorithm>

#include "common/fd.h"
#include "common/procfs.h"
#include "common/write_all.h"
#include "heap/analysis/collections.h"
#include "heap/analysis/duplicates.h"
#include "heap/analysis/groups.h"
#include "heap/analysis/largest.h"
#include "heap/analysis/names.h"
#include "heap/analysis/paths.h"
#include "heap/analysis/suspects.h"
#include "heap/analysis/tree_cut.h"

namespace {

using namespace jprof::heap;

void CheckSums(const Heap& heap, const DominatorChildren& children) {
  uint64_t whole = 0;
  for (const uint32_t node : children.Of(kRoot)) whole += heap.tree.retained[node];
  if (whole != heap.tree.size) __builtin_trap();
  for (uint32_t node = 0; node < heap.nodes(); ++node) {
    const bool holds_itself = heap.RetainedBy(node) >= heap.SizeOf(node) / Heap::kUnit;
    if (heap.IsReachable(node) && !holds_itself) __builtin_trap();
  }
}

void CheckCut(const Heap& heap, const TreeCut& cut) {
  uint64_t bytes = 0, objects = 0;
  for (const TreeRow& row : cut.rows) {
    bytes += row.bytes;
    objects += row.objects;
    if (row.parent != kNone && row.parent >= cut.rows.size()) __builtin_trap();
  }
  if (bytes != heap.tree.size * Heap::kUnit || objects != heap.tree.reachable) __builtin_trap();
}

void Analyse(const Heap& heap) {
  const DominatorChildren children(heap.tree);
  CheckSums(heap, children);
  CheckCut(heap, CutTree(heap, children, {.share = 0.01, .rows = 20, .levels = 5}));
  if (FindLargest(heap, children, 5, 20).objects.size() > 20) __builtin_trap();
  for (const Grouping& grouping :
       {ByClass(heap), ByLoader(heap), ByPackage(heap), ByClassName(heap), ByLoaderName(heap)}) {
    for (const GroupSum& sum : SumGroups(heap, children, grouping))
      if (sum.retained > heap.tree.size * Heap::kUnit) __builtin_trap();
  }
  for (const Suspect& suspect : FindSuspects(heap, children, 0.1))
    ObjectText(heap, suspect.chain.back());
  FindDuplicates(heap, {});
  SumCollections(heap, {});
  const uint32_t step = heap.nodes() / 20 + 1;
  for (uint32_t node = 0; node < heap.nodes(); node += step) {
    std::vector<bool> wanted(heap.nodes());
    wanted[node] = true;
    const auto path = FindPath(heap, wanted);
    if (path.has_value() != heap.IsReachable(node)) __builtin_trap();
    ObjectText(heap, node);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const jprof::Fd file(memfd_create("heap", MFD_CLOEXEC));
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (jprof::WriteAll(file.get(), bytes) != 0) return 0;
  const auto heap =
      Load(jprof::procfs::DescriptorPath(file.get()), {.keep_references = true, .progress = {}});
  if (heap) Analyse(*heap);
  return 0;
}
