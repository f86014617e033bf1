// The table that counts per thread are shown in, for people and for programs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/result.h"
#include "ptm/names/event_name.h"
#include "reports/output.h"
#include "reports/source.h"

namespace jprof::cli {

inline constexpr double kNotCounted = -1;

struct CountRow {
  uint32_t pid = 0, tid = 0;
  std::string name;
  uint64_t threads = 1;  // summed up in this row
  bool ended = false;
  std::vector<double> counts;  // as the table's metrics; time in ns; or kNotCounted
};

struct CountTable {
  std::string command;  // what was counted, in words
  double seconds = 0;
  std::vector<ptm::CheckedMetric> metrics;
  std::vector<CountRow> rows;  // the most time first
  CountRow total;              // of all rows, and more where threads were not told apart
  std::vector<double> lost;    // counted and of no known thread; empty: nothing
  bool by_name = false;        // a row sums up the threads of one name
  std::vector<std::string> notes;
};

// One row for each name, in the place of the rows.
void SumByName(CountTable& table);
void SortByTime(CountTable& table);

// CSV: a header line where `first`, and the rows.
void PrintCounts(const CountTable& table, reports::Format format, bool first, reports::Output& out);

}  // namespace jprof::cli
