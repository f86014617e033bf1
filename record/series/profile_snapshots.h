// Takes snapshots of one profile while a program writes it (record/series/series_recorder.h): maps
// its files, and plans when the next snapshot is taken. What becomes of a snapshot is up to those
// who derive from it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "common/fd.h"
#include "common/result.h"
#include "profile/series/series_encoder.h"

namespace jprof::record {

// A file that another process maps and lets grow, mapped for reading.
class ViewedFile {
 public:
  explicit ViewedFile(const std::filesystem::path& path);
  ViewedFile(const ViewedFile&) = delete;
  ViewedFile& operator=(const ViewedFile&) = delete;
  ~ViewedFile();

  // Returns how many of the first `bytes` can be read at data() now.
  uint64_t Ensure(uint64_t bytes);
  const char* data() const { return data_; }
  // Returns whether the path leads to this file.
  bool IsAt(const std::filesystem::path& path) const;

 private:
  Fd file_;
  char* data_ = nullptr;
  uint64_t mapped_ = 0;
};

// Snapshots take at most this share of the time of one processor, and at most so much of it between
// two of them: else the next one is later. The last one, at the end, is not delayed.
struct SnapshotShare {
  double of_all = 0, at_once = 0;
};

class ProfileSnapshots {
 public:
  // `shown` is the path that the user is told, where the profile will be in the end.
  ProfileSnapshots(std::filesystem::path profile, std::filesystem::path shown, uint64_t interval_ns,
                   SnapshotShare share);
  virtual ~ProfileSnapshots() = default;

  // Takes a snapshot if one is due.
  void Look(int64_t now);
  // Takes the last snapshot. Returns a line for the user, which is empty if nothing was recorded.
  std::string End();

 protected:
  struct Snapshot {
    profile::SeriesEncoder::Snapshot encoded;
    int64_t begin_ns = 0, end_ns = 0;  // of the interval, by CLOCK_MONOTONIC
    bool last = false;                 // the program does not write any more
  };
  // Called once, before the first snapshot. Fails if nothing can be recorded.
  virtual Result<void> Open(uint64_t unix_now, int64_t now) = 0;
  virtual void Keep(const Snapshot& snapshot) = 0;
  // Called for snapshots that are left out to save time.
  virtual void Missed(uint64_t count) = 0;
  // Called after the last snapshot. Returns what End returns. `written`: the program still writes.
  virtual std::string Close(bool written) = 0;
  // Returns the line for the user if nothing was recorded.
  virtual std::string NotRecorded(const std::string& reason) const = 0;

  const std::filesystem::path& profile() const { return profile_; }
  const std::filesystem::path& shown() const { return shown_; }
  uint64_t interval_ns() const { return interval_ns_; }
  profile::SeriesEncoder& encoder() { return encoder_; }
  uint64_t cost_ns() const { return cost_ns_; }   // CPU time of all snapshots
  int64_t start_ns() const { return start_ns_; }  // of the profile, by CLOCK_MONOTONIC
  // Returns whether the profile is still at its path. Its directory may have been removed, or
  // replaced by that of another recording.
  bool IsThere() const;
  // Returns what the files have now. Requires that the header can be read.
  profile::ProfileMemory Memory();

 private:
  bool Begin(int64_t now);
  int64_t Take(bool last);
  void Plan(int64_t now, int64_t cost);

  std::filesystem::path profile_, shown_;
  uint64_t interval_ns_;
  SnapshotShare share_;
  ViewedFile control_, nodes_, extra_;
  profile::SeriesEncoder encoder_;
  std::string failure_;  // why nothing is recorded
  bool begun_ = false;
  int64_t start_ns_ = 0;
  int64_t before_ns_ = 0, due_ns_ = 0;  // the last and the next snapshot
  uint64_t pending_ = 0;                // snapshots that are left out before the next one
  uint64_t cost_ns_ = 0;
};

}  // namespace jprof::record
