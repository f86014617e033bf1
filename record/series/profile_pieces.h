// Makes profiles of their own of the snapshots of a profile, each of what was counted since the
// snapshot before, and keeps the last of them (profile/pieces).
#pragma once

#include <string>

#include "profile/pieces/piece_gains.h"
#include "record/series/profile_snapshots.h"
#include "record/series/snapshot_options.h"

namespace jprof::record {

class ProfilePieces : public ProfileSnapshots {
 public:
  // `shown` is the path that the user is told; pieces have its name.
  ProfilePieces(const std::filesystem::path& profile, const std::filesystem::path& shown,
                const SnapshotOptions& options);

 private:
  Result<void> Open(uint64_t unix_now, int64_t now) override;
  void Keep(const Snapshot& snapshot) override;
  void Missed(uint64_t count) override { missed_ += count; }
  std::string Close(bool written) override;
  std::string NotRecorded(const std::string& reason) const override {
    return "no pieces: " + reason;
  }

  std::string Replaced() const;
  Result<void> Write(bool finished);
  bool Settle(profile::NodeGains& gains);
  void RemoveOldest();

  uint64_t keep_;
  std::filesystem::path folder_;
  profile::PieceGains gains_;
  std::shared_ptr<profile::Window> window_;
  uint64_t written_ = 0, missed_ = 0;
  std::string failure_;  // why the last piece could not be written; empty if it was
};

}  // namespace jprof::record
