// Opens heap dumps, with progress on a terminal.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "common/result.h"
#include "heap/load/heap.h"
#include "record/run/status_line.h"
#include "reports/heap/heap_report.h"

namespace jprof::cli {

// Shows a step of work with heap dumps and how much of it is done. A share of 0 is not shown.
void ShowStep(std::string_view step, double share, record::StatusLine& line);

// A heap and the tree of its dominators.
struct OpenedHeap {
  heap::Heap heap;
  heap::DominatorChildren children;

  explicit OpenedHeap(heap::Heap loaded) : heap(std::move(loaded)), children(heap.tree) {}
  reports::HeapView View() const { return {heap, children, {}}; }
};

// Reads a dump. Fails if heap::Load does. `keep_references` keeps what paths are found by.
Result<std::unique_ptr<OpenedHeap>> OpenHeap(const std::string& path, bool keep_references,
                                             record::StatusLine& line);

}  // namespace jprof::cli
