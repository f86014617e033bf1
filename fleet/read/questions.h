// Questions about a fleet that are answered without loading a profile.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/result.h"
#include "fleet/read/measure.h"

namespace jprof::fleet {

// The hottest methods or contexts.
struct TopRow {
  std::string name;     // of the method
  uint64_t frame = 0;   // its number, of methods only
  std::string context;  // the fingerprint, of contexts only
  std::string path;     // its callers, of contexts only: the nearest first
  double total = 0;     // in the unit of the measure
  double share = 0;     // of the whole, from 0 to 1
  double mean = 0;      // of a run; runs that lack it count as 0
  double arm = 0;       // the mean's 95 % interval between runs is mean ± arm
  uint64_t runs = 0;    // of the drawn runs, those that have it
};

struct Top {
  Measure measure;
  std::vector<TopRow> rows;
  double total = 0;
  size_t runs = 0, drawn = 0, hosts = 0;
};

struct TopQuestion {
  std::string by;  // a measure
  bool contexts = false;
  size_t most = 20;
};
// The intervals are those of at most kSpreadRuns runs, drawn at random.
Result<Top> AskTop(Server& server, const Selection& selection, const TopQuestion& question);

// What a method or context had of each run, by day and version.
struct HistoryRow {
  uint64_t day = 0;  // since 1970
  std::string version;
  size_t runs = 0;
  double share = 0, arm = 0;  // the mean share of a run, from 0 to 1, and its 95 % interval
  double mean = 0;            // of the amount, in the unit of the measure
  bool changes = false;       // the level changed with this row
  double p = 1;               // of the change
};

struct History {
  Measure measure;
  std::string name;
  std::vector<HistoryRow> rows;
};

struct HistoryQuestion {
  std::string by, method, context;  // one of method and context
};
Result<History> AskHistory(Server& server, const Selection& selection,
                           const HistoryQuestion& question);

// A host that deviates from the others in a method.
struct OutlierRow {
  std::string host, name;
  size_t runs = 0;
  double share = 0, median = 0;  // of the host, and of all hosts
  double score = 0;              // deviation in robust standard deviations
};

struct Outliers {
  Measure measure;
  std::vector<OutlierRow> rows;
  size_t hosts = 0, methods = 0;
};

struct OutlierQuestion {
  std::string by;
  size_t methods = 50;  // the hottest, which are examined
  double score = 3.5;   // least deviation
};
Result<Outliers> AskOutliers(Server& server, const Selection& selection,
                             const OutlierQuestion& question);

// Marks the rows at which the level of the shares changes: binary segmentation. A stretch of rows
// is divided where Welch's t test between the runs before and after is most significant, if its p
// value times the number of possible places is below 0.001; and so on in both parts. Requires the
// shares of the runs of each row.
void MarkChanges(const std::vector<std::vector<double>>& shares, std::vector<HistoryRow>& rows);

// Returns the scores of values: their distance to the median in units of 1.4826 times the median
// absolute deviation. A deviation of half of the values of 0 counts as `least`.
std::vector<double> RobustScores(const std::vector<double>& values, double least);

}  // namespace jprof::fleet
