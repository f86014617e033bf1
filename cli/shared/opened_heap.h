// Opens heap dumps, with the step and its share on a terminal.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "common/result.h"
#include "heap/load/heap.h"
#include "reports/heap/heap_report.h"

namespace jprof::cli {

// Shows what is being done on stderr if that is a terminal. The line is removed at the end.
class StepLine {
 public:
  StepLine() = default;
  StepLine(const StepLine&) = delete;
  StepLine& operator=(const StepLine&) = delete;
  ~StepLine() { End(); }

  // A share of 0 is not shown.
  void Show(std::string_view step, double share);
  void End();

 private:
  std::string shown_;
};

// A heap and the tree of its dominators.
struct OpenedHeap {
  heap::Heap heap;
  heap::DominatorChildren children;

  explicit OpenedHeap(heap::Heap loaded) : heap(std::move(loaded)), children(heap.tree) {}
  reports::HeapView View() const { return {heap, children, {}}; }
};

// Reads a dump. Fails if heap::Load does. `keep_references` keeps what paths are found by.
Result<std::unique_ptr<OpenedHeap>> OpenHeap(const std::string& path, bool keep_references,
                                             StepLine& steps);

}  // namespace jprof::cli
