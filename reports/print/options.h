// Defines the options of reports. Not every report has all of them (reports/report_list.h).
#pragma once

#include <optional>
#include <string>

#include "model/tree/source.h"
#include "reports/print/formats.h"

namespace jprof::reports {

struct Options {
  Format format = Format::kText;
  bool merged = false;  // all threads as one tree
  // The order of siblings; by default, most reports have kFirst (first called first).
  std::optional<model::Sort> sort;
  double min_percent = 0;       // hide subtrees below this share of the whole
  uint32_t depth = UINT32_MAX;  // hide levels beyond it
  bool cumulative = false;      // add a column of each node with all below it
  bool raw = false;             // RAW, ADJUST, BASE, ERROR side by side
  bool static_letters = false;  // lower case letters for static methods
  std::string metric;           // only this one; empty for all
  // These are only of the report arc.
  uint32_t top = 0;             // rows of each table, or functions of the listing; 0 for all
  std::optional<uint32_t> tid;  // only this thread
  bool listing = false;  // instructions instead of tables, each with how often it was executed
  std::string function;  // only functions whose names contain this, their callers and callees

  // Returns what to load for the report.
  operator model::ForestOptions() const {
    return {.merged = merged, .sort = sort, .by_cumulative = cumulative, .metric = metric};
  }
};

}  // namespace jprof::reports
