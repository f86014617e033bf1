// Appends the snapshots of a profile to its file `series` (profile/series/series_format.h).
#pragma once

#include <string>

#include "profile/log/log_writer.h"
#include "record/series/profile_snapshots.h"

namespace jprof::record {

class ProfileSeries : public ProfileSnapshots {
 public:
  ProfileSeries(const std::filesystem::path& profile, const std::filesystem::path& shown,
                uint64_t interval_ns);

 private:
  Result<void> Open(uint64_t unix_now, int64_t now) override;
  void Keep(const Snapshot& snapshot) override;
  void Missed(uint64_t count) override;
  std::string Close(bool written) override;
  std::string NotRecorded(const std::string& reason) const override {
    return "no series: " + reason;
  }

  profile::LogWriter file_;
  uint64_t snapshots_ = 0, missed_ = 0, bytes_ = 0;
  int64_t end_ns_ = 0;
};

}  // namespace jprof::record
