// Defines an open profile with its calibration table, and what to load of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "calibrate/model/table.h"
#include "model/values/statistics.h"
#include "profile/merge/merged_meta.h"
#include "profile/read/reader.h"

namespace jprof::model {

// The production time of one row of a counted profile whose threads are merged, from sampled runs.
struct ProductionTime {
  bool known = false;  // false if it was added to another row
  double samples = 0;
  Estimate time, all;                       // mean ns of a run, alone and with everything below
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
  std::string refitted;  // what it was refitted to (model/combined/refit.h); empty if it was not
  std::optional<Estimate> refit = {};  // what it removes now, as a multiple of what the table would
  std::string not_refitted = {};       // why its samples do not refit it; empty unless it has such
  bool as_trained = false;             // whether the costs of the table are to stay as they are
  ProductionTimes production = {};     // empty unless the profile is combined
  std::optional<profile::MergedMeta> merged = {};  // what it was merged from
  // RecordedEvents::Losses of the events beside it, once LoadEvents was called.
  std::vector<std::string> event_losses = {};
};

// Returns the end of a message about what the profile lacks: its first damage, which is the likely
// cause.
inline std::string DamageOf(const Source& source) {
  const std::vector<std::string> damages = source.reader.damages().Lines();
  return damages.empty() ? "" : "; it is damaged: " + damages.front();
}

// Returns whether recursion was folded when it was recorded, from the beginning or later.
inline bool IsFolded(const Source& source) {
  return source.reader.meta().options.fold_recursion || source.reader.header().folded_ticks != 0;
}

// States the order of siblings.
enum class Sort { kFirst, kBase, kCalls };

// States what to load of a profile's tree, and in which order.
struct ForestOptions {
  bool merged = false;         // all threads as one tree
  bool pools = false;          // those of each thread pool as one (thread_groups.h)
  std::optional<Sort> sort;    // order of siblings; by default kFirst (first called first)
  bool by_cumulative = false;  // kBase sorts by a row with all below it
  std::string metric;          // only this one; empty for all
  bool call_sites = false;     // calls from different sites of a method are different rows
};

}  // namespace jprof::model
