// Claims the place of a recording: a folder beside it, which is locked as long as this process
// records, has what is recorded meanwhile. The lock ends with the process, however it ends.
#pragma once

#include <filesystem>
#include <system_error>
#include <utility>

#include "common/fd.h"
#include "common/result.h"

namespace jprof::record {

class PlaceClaim {
 public:
  // Requires an absolute path. Makes the folder, or empties the one of a recording that was killed.
  // Fails with kWrongUse if another process records to this place, or if the folder cannot be made.
  static Result<PlaceClaim> Take(const std::filesystem::path& place);

  PlaceClaim(PlaceClaim&& other) noexcept
      : folder_(std::exchange(other.folder_, {})), lock_(std::move(other.lock_)) {}
  PlaceClaim& operator=(PlaceClaim&&) = delete;
  // Removes the folder, unless it was moved.
  ~PlaceClaim();

  const std::filesystem::path& folder() const { return folder_; }

  // Renames the folder. It stays where it is if that fails, also on destruction.
  std::error_code MoveTo(const std::filesystem::path& path);

 private:
  PlaceClaim(std::filesystem::path folder, Fd lock)
      : folder_(std::move(folder)), lock_(std::move(lock)) {}

  std::filesystem::path folder_;  // empty once it is not this object's
  Fd lock_;
};

// Fails with kWrongUse if a process has claimed the place.
Result<void> CheckUnclaimed(const std::filesystem::path& place);

// Does what PreparePlace does, and fails also if a process has claimed the place.
Result<std::filesystem::path> PrepareUnclaimed(const std::filesystem::path& place, bool force);

}  // namespace jprof::record
