// Profiles that could not be sent, in a folder of the user, until a later push sends them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/result.h"
#include "fleet/push/encode.h"
#include "fleet/server/url.h"

namespace jprof::fleet {

inline constexpr uint64_t kSpoolLimit = uint64_t{1} << 30;  // bytes

// Returns $XDG_STATE_HOME/jprof/spool, or the same in ~/.local/state.
std::string DefaultSpool();

// What is in the folder of a spool, for all databases.
struct SpoolUse {
  uint64_t profiles = 0;
  uint64_t bytes = 0;  // on disk
};
SpoolUse UseOf(const std::string& folder);

// The profiles that wait for one database. Several processes may use one.
class Spool {
 public:
  // `folder` holds the profiles of all databases, which may have `limit` bytes together.
  Spool(std::string folder, const Url& url, uint64_t limit);

  // Copies a profile into it, with its names. Fails if there is no room, or if it cannot be
  // written.
  Result<void> Keep(const std::string& directory, const RunNames& names) const;

  struct Entry {
    std::string path;       // of the entry
    std::string directory;  // of the profile in it
    RunNames names;
  };
  // Returns what is in it, the oldest first. What cannot be read is left out. Removes copies that
  // were begun more than a day ago and not finished: the push was killed.
  std::vector<Entry> Entries() const;
  // Removes an entry that was sent.
  static void Remove(const Entry& entry);

  const std::string& folder() const { return mine_; }

 private:
  std::string all_, mine_;
  uint64_t limit_;
};

}  // namespace jprof::fleet
