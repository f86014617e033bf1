// Tables of single objects: dominators, suspects, duplicates, collections.
#pragma once

#include "reports/heap/heap_report.h"

namespace jprof::reports {

void PrintDominators(const HeapView& view, const HeapOptions& options, Output& out);
void PrintSuspects(const HeapView& view, const HeapOptions& options, Output& out);
void PrintDuplicates(const HeapView& view, const HeapOptions& options, Output& out);
void PrintCollections(const HeapView& view, const HeapOptions& options, Output& out);

// Prints the largest objects that no object dominates, without a head: `rows`, or all with 0.
void PrintLargest(const HeapView& view, const HeapOptions& options, size_t rows, Output& out);

// A suspect holds at least this share of the heap.
inline constexpr double kSuspectShare = 0.1;

}  // namespace jprof::reports
