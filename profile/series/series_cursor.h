// Loads windows of a series (profile/series/series.h) one after another, in the order of time: all
// of them take as long as reading the series twice, however many they are.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "common/result.h"
#include "profile/read/window.h"
#include "profile/series/series.h"
#include "profile/series/series_packet.h"

namespace jprof::profile {

class SeriesCursor {
 public:
  // Begins at the snapshot `first`; 0 is the beginning, before the first snapshot. Fails if it
  // needs more than `memory` bytes, or if the file is damaged. The series must live longer.
  static Result<SeriesCursor> Open(const Series& series, size_t first, uint64_t memory);

  // Loads what was counted from the snapshot at which it is to the snapshot `last`, which is after
  // it, and is there then. Fails as Open does; then it must not be used any more.
  Result<std::shared_ptr<Window>> Next(size_t last);

 private:
  SeriesCursor(const Series& series, uint64_t memory) : series_(&series), memory_(memory) {}
  bool FindTakeovers(size_t snapshot);
  bool ApplyControl(size_t snapshot);
  bool ApplyNodes(size_t snapshot, NodeGains& gains);
  uint64_t bytes() const;

  const Series* series_;
  uint64_t memory_;
  size_t at_ = 0;                          // the snapshot
  std::vector<uint64_t> words_;            // of the control file then
  std::vector<SeriesTakeover> takeovers_;  // of all snapshots, in the order in which they happened
  size_t past_ = 0;                        // of these, until the snapshot
};

}  // namespace jprof::profile
