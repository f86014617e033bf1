// Defines the options of reports. Not every report has all of them (reports/report_list.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/tree/readable_name.h"
#include "model/tree/source.h"
#include "reports/print/formats.h"

namespace jprof::reports {

// Returns the form of names that are not the subject of a line, such as callers.
inline model::NameForm ShortOf(model::NameForm form) {
  return form == model::NameForm::kFull ? model::NameForm::kShort : form;
}

struct Options {
  Format format = Format::kText;
  bool merged = false;    // all threads as one tree
  bool separate = false;  // text shows the threads of a pool each by itself, as other formats do
  // The order of siblings. By default text has the largest first, and other formats of most reports
  // the first called first.
  std::optional<model::Sort> sort;
  // Hides subtrees below this share of the whole. By default text hides what does not fit a screen,
  // and other formats hide nothing.
  std::optional<double> min_percent;
  uint32_t depth = UINT32_MAX;  // hide levels beyond it
  bool all = false;             // text hides and folds nothing
  bool cumulative = false;      // CSV and JSON: add each node with all below it, as text always has
  bool raw = false;             // RAW, ADJUST, SELF, ERROR side by side
  bool static_letters = false;  // lower case letters for static methods
  std::string metric;           // only this one; empty for all
  model::NameForm names = model::NameForm::kFull;  // of text and Markdown
  size_t width = 0;                                // of text, in cells; 0 for any
  bool legends = false;                            // text explains its columns after the rows
  std::span<const ColumnHelp> legend = {};         // as PrintReport sets it from the report's row
  std::string from, to;     // critical-path: the texts of marks between which it goes
  bool contexts = false;    // log-jlm: also who takes each lock, who waits, and for whom
  std::string by;           // memory: only this table, `function` or `site`; empty for all
  bool call_sites = false;  // calls from different lines of one caller are different rows
  // These are only of the report lines.
  std::string method;                    // only methods whose names contain this
  std::vector<std::string> source_path;  // directories and archives to search before the usual ones
  bool usual_sources = true;             // search where the recorded program has its sources, too
  // These are only of the report arc.
  // Rows of each table, or functions of the listing, and rows of the report lines; 0 for all.
  uint32_t top = 0;
  std::optional<uint32_t> tid;  // only this thread
  bool listing = false;  // instructions instead of tables, each with how often it was executed
  std::string function;  // only functions whose names contain this, their callers and callees

  // Returns whether the report is a table or tree for people.
  bool for_people() const { return format == Format::kText || format == Format::kMarkdown; }
  // Returns whether the rows are limited to what fits a screen.
  bool fits_screen() const { return for_people() && !all && !min_percent && depth == UINT32_MAX; }
  // Returns the share below which subtrees are hidden, in percent, if the screen is no limit.
  double percent() const { return all ? 0 : min_percent.value_or(0); }

  // Returns what to load for the report.
  operator model::ForestOptions() const {
    return {.merged = merged,
            .pools = for_people() && !all && !separate && !merged,
            .sort = sort,
            .by_cumulative = cumulative,
            .metric = metric,
            .call_sites = call_sites};
  }
};

}  // namespace jprof::reports
