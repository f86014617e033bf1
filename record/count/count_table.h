// Holds the counts of every thread. All functions are pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ptm/names/event_name.h"

namespace jprof::record {

inline constexpr double kNotCounted = -1;
// The metric of interrupts that came while a thread ran. It needs programs in the kernel.
inline constexpr char kInterrupts[] = "interrupts";

struct CountRow {
  uint32_t pid = 0, tid = 0;
  std::string name;
  uint64_t threads = 1;  // the number of threads that this row sums up
  bool ended = false;
  std::vector<double> counts;  // in the order of the table's metrics, or kNotCounted; time in ns
};

struct CountTable {
  std::string command;  // what was counted, for the user
  double seconds = 0;
  std::vector<ptm::CheckedMetric> metrics;
  std::vector<CountRow> rows;  // in descending order of time
  CountRow total;              // of all rows, or of all threads if they were not distinguished
  std::vector<double> lost;    // counts of unknown threads; empty if there are none
  bool by_name = false;        // a row is the sum of all threads of one name
  std::vector<std::string> notes;
};

// Merges the rows of the same name; rows are then in the order of their names.
void SumByName(CountTable& table);

// Sorts by time where the table has it, else by the first metric, and equal rows by thread id.
void SortByTime(CountTable& table);

// Returns the index of the first metric whose plain name is one of `names`; that of
// "perf::cycles:u" is CYCLES.
std::optional<size_t> FindMetric(const CountTable& table,
                                 const std::vector<std::string_view>& names);

}  // namespace jprof::record
