// Records counts over time from outside: takes snapshots of the profiles at a place while the
// program writes them (profile/series). Nothing of it runs in the program.
//
// Not thread-safe. A snapshot is taken in Look(), so that it is called often enough.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"

namespace jprof::record {

// Snapshots take at most this share of the time of one processor, and at most so much of it between
// two of them: else the next one is later. The last one, at the end, is not delayed.
inline constexpr double kSeriesShare = 0.01, kSeriesShareAtOnce = 0.1;

// Parses the value of --series, such as 1s or 500ms, in nanoseconds. Returns 0 for an empty text.
// Fails with kWrongUse if it is no time from 100 ms to an hour.
Result<uint64_t> ParseSeries(std::string_view text);

class ProfileSeries;

class SeriesRecorder {
 public:
  // Records the profiles that programs make at `place`, or in folders in it, every `interval_ns`.
  // Does nothing if that is 0.
  SeriesRecorder(std::filesystem::path place, uint64_t interval_ns);
  ~SeriesRecorder();

  // Takes the snapshots that are due.
  void Look();

  // Takes the last snapshots, after the programs have ended, and closes the files. Returns a line
  // about each profile. Must be called before the profiles are moved. Does nothing when it is
  // called again.
  std::vector<std::string> End();

 private:
  void FindProfiles(int64_t now);

  std::filesystem::path place_;
  uint64_t interval_ns_;
  int64_t find_again_ns_ = 0;
  std::map<std::filesystem::path, std::unique_ptr<ProfileSeries>> profiles_;
};

}  // namespace jprof::record
