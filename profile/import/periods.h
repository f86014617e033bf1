// Periods of samples: their text, and samples of several periods as numbers of one.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>

#include "common/result.h"

namespace jprof::profile {

// Parses a span of time, such as "10 ms", "10ms" or "1us"; a number alone is in nanoseconds.
// Returns 0 for other text, and for spans of more than an hour.
uint64_t ParseSpan(std::string_view text);

// Converts samples of several periods to numbers of samples of the one that most of them have.
// What is rounded is carried to the next sample, so that sums stay right.
class CommonPeriod {
 public:
  // Notes a sample of the period. Requires that no sample has been converted.
  void Note(uint64_t period_ns) { ++samples_[period_ns]; }
  // Returns the period of most samples, or 0 if there are none.
  uint64_t Get() const;
  // Returns the number of samples that have another one.
  uint64_t Others() const;

  // Returns how many samples of the common period one of this period is; it may be 0.
  int64_t Convert(uint64_t period_ns);

 private:
  std::map<uint64_t, uint64_t> samples_;  // by period
  uint64_t common_ = 0;
  double carried_ = 0;
};

}  // namespace jprof::profile
