#include "profile/merge/merged_texts.h"

#include <fmt/format.h>

#include <algorithm>

#include "profile/files/layout.h"
#include "profile/files/whole_file.h"

namespace jprof::profile {
namespace {

// Keeps in `meta` what it has in common with `other`.
void KeepCommon(Meta& meta, const Meta& other) {
  if (other.pid != meta.pid) meta.pid = 0;
  if (other.command != meta.command) meta.command.clear();
  if (other.cwd != meta.cwd) meta.cwd.clear();
  if (meta.start.empty() || (!other.start.empty() && other.start < meta.start))
    meta.start = other.start;
  if (other.jvm != meta.jvm) meta.jvm = {};
  if (other.machine != meta.machine) meta.machine = {};
  meta.options.fold_recursion |= other.options.fold_recursion;
  meta.options.sites |= other.options.sites;
  // Times are estimates if one of the profiles has estimates.
  meta.options.time_every = std::max(meta.options.time_every, other.options.time_every);
  if (other.options.within != meta.options.within) meta.options.within.clear();
  meta.options.begins_paused |= other.options.begins_paused;
  meta.options.tree_memory = std::max(meta.options.tree_memory, other.options.tree_memory);
}

}  // namespace

void MergedTexts::Add(const Meta& meta, const std::string& calibration, double ticks_factor,
                      MergedInput input) {
  const bool is_first = !meta_;
  if (is_first) meta_ = meta;
  same_time_every_ &= meta.options.time_every == meta_->options.time_every;
  KeepCommon(*meta_, meta);
  // Each input has left out its own first calls.
  if (!is_first) meta_->options.after += meta.options.after;
  same_fingerprint_ &= meta.fingerprint == meta_->fingerprint;
  same_bracket_period_ &= meta.clock.bracket_period == meta_->clock.bracket_period;
  if (!calibration.empty()) tables_.insert(calibration);
  const auto weight = static_cast<double>(input.calls);
  bracket_sum_ += meta.clock.bracket_ticks * ticks_factor * weight;
  calls_ += weight;
  merged_.inputs.push_back(std::move(input));
}

// Sets the merged overhead of timed events, which calibration subtracts, to the mean by calls.
void MergedTexts::SetTimerOverhead() {
  if (!same_bracket_period_) {
    AddNotice(
        "the profiles timed different parts of their events: the timer overhead of the first is "
        "subtracted from all");
  } else if (calls_ > 0) {
    meta_->clock.bracket_ticks = bracket_sum_ / calls_;
  }
}

void MergedTexts::NoteEstimates() {
  if (same_time_every_) return;
  AddNotice(
      fmt::format("some of the profiles timed more of their intervals than others (--time-every): "
                  "errors are those of one in {}",
                  meta_->options.time_every));
}

// Returns the calibration table of the merged profile. If it is empty, the profile stays raw, and
// a notice states why.
std::string MergedTexts::CalibrationOf() {
  if (!same_fingerprint_) {
    meta_->fingerprint.clear();
    AddNotice(
        "the profiles were recorded on different machines, JVMs or kinds of probe: no calibration "
        "table fits them all, so values are raw");
    return "";
  }
  if (tables_.size() > 1) {
    AddNotice(
        "the profiles have different calibration tables: instead of these, reports use this "
        "user's table that fits, if there is one");
    return "";
  }
  return tables_.empty() ? "" : *tables_.begin();
}

Result<void> MergedTexts::Write(const std::string& directory,
                                const std::vector<std::string>& watched) {
  meta_->options.distribution = watched;
  meta_->piece = {};
  SetTimerOverhead();
  NoteEstimates();
  const std::string table = CalibrationOf();
  const auto file = [&](const char* name) { return fmt::format("{}/{}", directory, name); };
  auto written = WriteWholeFile(file(kMetaFile), ToJson(*meta_));
  if (written && !table.empty()) written = WriteWholeFile(file(kCalibrationFile), table);
  if (written) written = WriteWholeFile(file(kMergedFile), ToJson(merged_));
  return written;
}

}  // namespace jprof::profile
