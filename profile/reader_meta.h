// meta.json of a profile, read: who, what, how. See docs/PROFILE_FORMAT.md.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "profile/reader_damage.h"

namespace jprof::profile {

struct MetricInfo {
  std::string name;
  std::string unit;
  double scale = 1;      // raw value * scale = value in `unit`
  bool is_time = false;
  // Sampled metrics (mode scs, and calltree with samples): the value is the number of samples, or, if weighted, what
  // they stand for in `unit`; the metric after a weighted one is then its number of samples. Never calibrated.
  bool is_samples = false;
  bool is_weighted = false;
  double period = 0;        // one sample each so many of period_unit; 0: not by period
  std::string period_unit;  // ns (of CPU time, or of elapsed time where the name says so), bytes, events
};

struct Meta {
  std::string jprof;  // version of the writer
  std::string mode;   // callflow, calltree, trace, scs, tprof, scs
  uint64_t pid = 0;
  std::vector<std::string> command;
  std::string start;  // ISO 8601
  std::string options;
  bool fold_recursion = false;
  std::string trace_mode;
  std::vector<MetricInfo> metrics;  // none in mode calltree
  std::string probe;
  std::string probe_note;
  double bracket_period = 0;
  double bracket_ticks = 0;  // in every sampled bracket, not taken off: still in the intervals
  // Of that, what is left in each interval, since a sampled bracket stands for all but itself.
  double bracket_bias() const { return bracket_period > 1 ? bracket_ticks * (1 - 1 / bracket_period) : 0; }
  std::string jvm;  // name and version
  std::map<std::string, std::string> fingerprint;
};

// What is missing or of the wrong type keeps its default; text that is no JSON object is a damage.
Meta ParseMeta(std::string_view text, Damages& damages);

}  // namespace jprof::profile
