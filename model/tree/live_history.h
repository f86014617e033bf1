// Loads the live objects of a profile of `jprof objects --live`: which ones existed at which
// snapshot, by class and calling context.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "common/result.h"
#include "model/tree/live_growth.h"
#include "model/tree/names.h"
#include "model/tree/source.h"

namespace jprof::model {

// Lists the objects of a class that a calling context has allocated, on any thread.
struct LiveContext {
  profile::MethodId type{};             // the class
  std::vector<profile::MethodId> path;  // the method that allocates, then its callers
  std::vector<Followed> objects, bytes;
};

struct LiveHistory {
  Names names;
  uint64_t interval = 0;      // one object in so many bytes was sampled; 0 if all were counted
  std::vector<double> times;  // of the snapshots, in seconds since the start
  std::vector<LiveContext> contexts;
};

// Returns whether the profile has metrics of live objects that nothing has counted, because no
// snapshot was taken.
bool LacksSnapshot(const Source& source);

// Fails (wrong use) if the profile has no live objects.
Result<LiveHistory> LoadLive(Source& source);

// Sums up the objects at the last snapshot, by class, and by class and the method that allocates.
class LiveNow {
 public:
  explicit LiveNow(const LiveHistory& history);

  struct Sums {
    LiveSum objects, bytes;
  };
  // Returns the sums of a class, or of a class and a method, or null if no such object exists.
  const Sums* Of(profile::MethodId type) const { return Find({type, std::nullopt}); }
  const Sums* Of(profile::MethodId type, profile::MethodId method) const {
    return Find({type, method});
  }

 private:
  using Key = std::pair<profile::MethodId, std::optional<profile::MethodId>>;
  const Sums* Find(const Key& key) const;

  std::map<Key, Sums> sums_;
};

}  // namespace jprof::model
