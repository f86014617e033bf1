// Takes the snapshots of one profile (record/series/series_recorder.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "common/fd.h"
#include "common/result.h"
#include "profile/log/log_writer.h"
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

 private:
  Fd file_;
  char* data_ = nullptr;
  uint64_t mapped_ = 0;
};

class ProfileSeries {
 public:
  ProfileSeries(std::filesystem::path profile, uint64_t interval_ns);

  // Takes a snapshot if one is due.
  void Look(int64_t now);
  // Takes the last snapshot and closes the file. Returns a line for the user.
  std::string End();

 private:
  bool Begin(int64_t now);
  void Take(bool last);
  profile::ProfileMemory Memory();
  void Plan(int64_t now, int64_t cost);
  void CountMissed(uint64_t count);
  std::string Snapshots() const;  // their number, as a text

  std::filesystem::path profile_;
  uint64_t interval_ns_;
  ViewedFile control_, nodes_, extra_;
  profile::SeriesEncoder encoder_;
  profile::LogWriter file_;
  std::string failure_;  // why nothing is recorded
  bool begun_ = false;
  int64_t start_ns_ = 0;                // of the profile, by CLOCK_MONOTONIC
  int64_t before_ns_ = 0, due_ns_ = 0;  // the last and the next snapshot
  uint64_t pending_ = 0;                // snapshots that are left out before the next one
  uint64_t snapshots_ = 0, missed_ = 0, cost_ns_ = 0, bytes_ = 0;
};

}  // namespace jprof::record
