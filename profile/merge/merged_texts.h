// The texts of a merged profile: meta.json, merged.json and calibration.json.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/result.h"
#include "profile/files/meta.h"
#include "profile/merge/merged_meta.h"

namespace jprof::profile {

class MergedTexts {
 public:
  explicit MergedTexts(std::string threads) { merged_.threads = std::move(threads); }

  // Adds the next input, with the text of its calibration.json, which is empty if it has none.
  // `ticks_factor` converts its raw ticks to those of the merged profile.
  void Add(const Meta& meta, const std::string& calibration, double ticks_factor,
           MergedInput input);
  void AddNotice(std::string notice) { merged_.notices.push_back(std::move(notice)); }

  // Writes the files. `watched` has the patterns of the methods whose calls were timed one by one.
  // Requires at least one input. Fails if a file cannot be written.
  Result<void> Write(const std::string& directory, const std::vector<std::string>& watched);

  // Returns the content of merged.json, which is complete when it has been written.
  const MergedMeta& merged() const { return merged_; }

 private:
  void SetTimerOverhead();
  void NoteEstimates();
  std::string CalibrationOf();

  MergedMeta merged_;
  std::optional<Meta> meta_;  // as the first input has it, with what is common to all
  std::set<std::string> tables_;
  bool same_fingerprint_ = true, same_bracket_period_ = true, same_time_every_ = true;
  double bracket_sum_ = 0, calls_ = 0;
};

}  // namespace jprof::profile
