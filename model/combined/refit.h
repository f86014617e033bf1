// Refits the calibration table of a counted profile to sampled profiles of the same program
// (docs/CALIBRATION.md). Methods are matched as jprof compare matches them; threads are one.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "calibrate/model/key.h"
#include "calibrate/model/table.h"
#include "common/result.h"
#include "model/tree/source.h"

namespace jprof::model {

// A key that the profile used.
struct RefitKey {
  calibrate::Key key;
  double events = 0;               // intervals of the profile
  calibrate::Overhead trained;     // what the table has for it
  double overhead = 0, error = 0;  // refitted, and one standard deviation
};

// Times are in the counted metric's raw units; `scale` converts them to `unit`.
struct Refitting {
  std::string metric, unit;
  double scale = 1;
  std::vector<RefitKey> keys;  // by what they make in total, greatest first
  // Holds the standard deviation of one method's overhead per interval, by type of the
  // running method.
  std::map<char, double> model_error;
  double samples = 0;  // of all runs, in methods that were counted
  size_t runs = 0;
  size_t methods = 0;
  double raw = 0, trained = 0,
         refitted = 0;   // in methods, as recorded and as removed by each table
  double error = 0;      // one standard deviation of `refitted`
  double sampled = 0;    // production time of one run
  double uncounted = 0;  // the part of it in methods that were not counted
};

// Fails if no time was counted or there is no table for it, if a profile has no samples of CPU
// time, or if the two have no method in common.
Result<Refitting> RefitToSamples(Source& counted, std::span<Source> sampled);

// Makes the refitted overheads correct the counted profile from now on.
void UseRefitted(Source& counted, const Refitting& refitting);

// Does both if the counted profile has times and a table for them, unless Source::as_trained. If
// the samples are of no use or of other work, the trained overheads stay, and Source::not_refitted
// says why.
void RefitIfPossible(Source& counted, std::span<Source> sampled);

// Returns what the refitted overheads make as a multiple of the trained ones, or none if these make
// nothing.
std::optional<Estimate> FactorOf(const Refitting& refitting);

// Returns "0.64 times (0.61 to 0.67)", with the 95 % interval.
std::string FactorText(const Estimate& factor);

// Returns "4070 samples of 2 runs".
std::string SamplesText(const Refitting& refitting);

}  // namespace jprof::model
