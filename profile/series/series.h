// Reads the series of a profile (profile/series/series_format.h), which is untrusted: what is
// damaged is left out and named.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "profile/log/thread_packets.h"
#include "profile/read/reader.h"
#include "profile/read/window.h"

namespace jprof::profile {

class SeriesCursor;
struct SeriesFrames;

class Series : public PacketLog {
 public:
  // Describes what was counted between a snapshot and the one before it, or the beginning.
  struct Interval {
    uint64_t begin_ns = 0, end_ns = 0;  // since the recording began
    uint64_t bytes = 0;                 // in the file
    uint32_t records = 0;               // nodes that changed
  };

  // Returns whether the profile has a series.
  static bool Exists(const Reader& reader);
  // Opens the series of the profile. Fails with kWrongUse if it has none, or fails if it cannot be
  // read.
  static Result<Series> Open(const Reader& reader);
  // Does the same with the bytes of the file.
  static Result<Series> Parse(const Reader& reader, LogBytes file);

  const std::vector<Interval>& intervals() const { return intervals_; }
  uint64_t asked_ns() const { return asked_ns_; }  // the requested interval
  uint64_t cost_ns() const { return cost_ns_; }  // CPU time of the recorder, but the last snapshot
  uint64_t missed() const { return discarded(); }  // snapshots that were left out, to save time
  bool is_partial() const { return is_partial_; }  // SeriesBlock::is_partial

  // Loads what was counted from the snapshot `first` to the snapshot `last`, which is after it; 0
  // is the beginning, before the first snapshot. Fails if it needs more than `memory` bytes, or if
  // the file is damaged. For several windows see SeriesCursor.
  Result<std::shared_ptr<Window>> Load(size_t first, size_t last,
                                       uint64_t memory = ReadingMemory()) const;

 private:
  friend SeriesCursor;
  struct Limits {
    uint64_t nodes = 0, words = 0;
    size_t extras = 0;
  };
  bool AddPacket(const LogPacket& packet, std::string_view content);
  // Returns the content of the packet of a snapshot, which is numbered from 1.
  SeriesFrames FramesOf(size_t snapshot) const;

  Limits limits_;
  std::vector<Interval> intervals_;
  uint64_t asked_ns_ = 0, cost_ns_ = 0;
  bool is_partial_ = false;
};

// Returns the window that a user names: 2s..5s, ..5s, 2s.., 500ms..1.5s, 20%..50%. Its ends are
// those of the nearest snapshots, and at least one interval is between them. Fails with kWrongUse
// if the text is none, or if it is beyond the end.
struct WindowBounds {
  size_t first = 0, last = 0;
};
Result<WindowBounds> FindWindow(const Series& series, std::string_view text);

// Restricts the reader to the window that a user names. Fails as FindWindow and Series::Open do.
Result<void> RestrictTo(Reader& reader, const std::string& text);

}  // namespace jprof::profile
