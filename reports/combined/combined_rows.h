// Makes the rows of the report `combined`: one for each shown context of the tree, depth first.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "model/combined/combined.h"
#include "reports/print/estimate_text.h"
#include "reports/print/options.h"
#include "reports/tree/outline.h"

namespace jprof::reports {

// A row is a context, or the contexts below one parent that the options hide.
struct CombinedRow {
  uint32_t id = 0, parent = 0, level = 0;
  char type = '?';
  std::string_view name;        // the JVM's
  std::string_view shown_name;  // as text shows it, in the form of the options
  bool is_java = true, counted = false;
  uint64_t calls = 0;
  std::vector<double> samples, all_samples;  // by run
  double counted_ns = 0, counted_error = 0, counted_all = 0;
  model::ContextTimes times;
  size_t hidden = 0;  // contexts that the row stands for; 0 if it is one that is shown
  Place place;
  double estimated_time = 0, estimated_all = 0;  // ns

  bool is_estimated = false;
  std::optional<uint64_t> outermost_calls;  // nothing if recursion was folded

  bool has_calls() const { return is_java && calls > 0 && hidden == 0 && outermost_calls != 0; }
  // Returns the number of calls by which CUM is divided.
  uint64_t divisor() const { return outermost_calls.value_or(calls); }
  ShownTime own_time() const { return {times.own, is_estimated, estimated_time}; }
  ShownTime all_time() const { return {times.all, is_estimated, estimated_all}; }
};

// Orders siblings by their inclusive time, or as --sort requests.
void OrderCombined(model::CombinedTree& tree, const Options& options);

// Visits the rows of the contexts depth first, until `visit` returns false. Hidden contexts
// (--min-percent, --depth) are one row below their parent. A row is valid during the call. Returns
// the share of the whole below which contexts are hidden, in percent.
double VisitCombined(const model::CombinedView& view, const Options& options,
                     const std::function<bool(const CombinedRow&)>& visit);

}  // namespace jprof::reports
