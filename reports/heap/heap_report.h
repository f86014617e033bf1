// The reports of `jprof heap`: what is in a heap dump and what holds it. A report is a row of the
// table in heap_report.cc.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "heap/load/heap.h"
#include "model/tree/readable_name.h"
#include "reports/print/formats.h"
#include "reports/print/output.h"

namespace jprof::reports {

struct HeapOptions {
  Format format = Format::kText;
  model::NameForm names = model::NameForm::kFull;  // of classes, in text and Markdown
  size_t width = 0;                                // of text, in characters; 0 for any
  bool legends = false;                            // text explains its columns after the rows
  std::optional<uint64_t> top;                     // rows; 0 for all. By default text fits a screen
  uint32_t depth = 5;                              // levels of the tree of dominators
};

// A heap with the tree of its dominators.
struct HeapView {
  const heap::Heap& heap;
  const heap::DominatorChildren& children;
  std::function<void(double)> progress;  // of passes over the file; may be empty
};

struct HeapReport {
  const char* name;
  const char* help;
  void (*print)(const HeapView& view, const HeapOptions& options, Output& out);
  // Prints what differs between two dumps; null if the report cannot.
  void (*print_change)(const HeapView& before, const HeapView& after, const HeapOptions& options,
                       Output& out);
};

std::span<const HeapReport> HeapReports();

// Prints a screen: totals, the classes and objects that hold most, and suspects.
void PrintHeapSummary(const HeapView& view, const HeapOptions& options, Output& out);

// Prints a shortest path from a root to one of the nodes, which are called `what`. Fails if none of
// them can be reached. Requires a heap that was loaded with its references.
Result<void> PrintHeapPath(const HeapView& view, const std::vector<bool>& nodes,
                           const std::string& what, const HeapOptions& options, Output& out);

}  // namespace jprof::reports
