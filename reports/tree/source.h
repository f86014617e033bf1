// Defines the input of every report: an open profile, the calibration table, and the options.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "calibrate/model/table.h"
#include "profile/merge/merged_meta.h"
#include "profile/read/reader.h"
#include "reports/print/formats.h"
#include "reports/print/statistics.h"

namespace jprof::reports {

// The production time of one row of a counted profile whose threads are merged, from sampled runs.
struct ProductionTime {
  bool known = false;  // false if it was added to another row
  double samples = 0;
  Estimate time, all;                       // ns of one run, alone and with everything below
  bool is_estimated = false;                // `estimated` is shown, as there are few samples
  double estimated = 0, estimated_all = 0;  // ns
  uint64_t calls = 0;
  std::optional<uint64_t> outermost_calls;  // none if recursion was folded
};
using ProductionTimes = std::vector<ProductionTime>;  // by row

struct Source {
  profile::Reader reader;
  std::optional<calibrate::Table> table;
  std::string table_from;    // where the table came from, to print
  std::string uncalibrated;  // why there is no table and what to do; empty if there is one
  std::string refitted;  // what it was refitted to (reports/combined/refit.h); empty if it was not
  ProductionTimes production = {};                 // empty unless the profile is combined
  std::optional<profile::MergedMeta> merged = {};  // what it was merged from
};

enum class Sort { kFirst, kBase, kCalls };

struct Options {
  Format format = Format::kText;
  bool merged = false;  // all threads as one tree
  std::optional<Sort>
      sort;  // order of siblings; by default, most reports have kFirst (first called first)
  double min_percent = 0;       // hide subtrees below this share of the whole
  uint32_t depth = UINT32_MAX;  // hide levels beyond it
  bool cumulative = false;      // add a column of each node with all below it
  bool raw = false;             // RAW, ADJUST, BASE, ERROR side by side
  bool static_letters = false;  // lower case letters for static methods
  std::string metric;           // only this one; empty for all
};

}  // namespace jprof::reports
