// Records counts over time, and pieces of a recording, from outside: takes snapshots of the
// profiles at a place while the program writes them (profile/series, profile/pieces). Nothing of it
// runs in the program.
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
#include "record/series/snapshot_options.h"

namespace jprof::record {

// Parses the value of --series, such as 1s or 500ms, in nanoseconds. Fails with kWrongUse if it is
// no time from 100 ms to an hour.
Result<uint64_t> ParseSeries(std::string_view text);
// Does the same for --rotate, from a second to a week.
Result<uint64_t> ParseRotate(std::string_view text);

class ProfileSnapshots;

class SeriesRecorder {
 public:
  // Records the profiles that programs make at `place`, or in folders in it. Does nothing if no
  // option asks for it. `shown` is the path that users are told of a profile at `place`, where it
  // will be in the end; if it is empty, it is `place`.
  SeriesRecorder(std::filesystem::path place, const SnapshotOptions& options,
                 std::filesystem::path shown = {});
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
  SnapshotOptions options_;
  std::filesystem::path shown_;
  int64_t find_again_ns_ = 0;
  std::map<std::filesystem::path, std::vector<std::unique_ptr<ProfileSnapshots>>> profiles_;
};

}  // namespace jprof::record
