// Reads what `jprof info` prints of a profile, as values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/result.h"
#include "model/tree/process_attributes.h"
#include "profile/files/meta.h"
#include "profile/merge/merged_meta.h"
#include "profile/read/imported.h"
#include "profile/read/losses.h"

namespace jprof::cli {

// The numbers of entries in the log of jitted code.
struct JittedInfo {
  uint64_t methods = 0, unloaded = 0, stubs = 0, lost = 0;
  bool finished = false;  // the log ends in order
  double seconds = 0;
};

struct ThreadInfo {
  uint32_t tid = 0;
  std::string name;
  bool ended = false;
  uint64_t cpu_ns = 0;
  uint64_t dispatches = 0;
};

// The numbers of methods compiled with and without probes, and the VM intrinsics.
struct FocusInfo {
  uint32_t probed = 0, unprobed = 0, undecided = 0;
  std::vector<std::string> intrinsics;
};

// The contents of a profile besides its metadata and its log of jitted code.
struct CallInfo {
  bool calibrated = false;  // it has its calibration table
  uint64_t contexts = 0, calls = 0, exits = 0, trace_events = 0, methods = 0;
  std::optional<double> folded_from_s;
  std::string folded_text, limits_text;
  std::string slow_text;  // what was kept for slow calls
  FocusInfo focus;
  std::vector<profile::Loss> losses;
  std::vector<ThreadInfo> threads;
};

// The events of the kernel that were recorded beside a profile.
struct KernelEventInfo {
  uint64_t records = 0, lost = 0;
};

// The counts over time of a profile that was recorded with --series.
struct SeriesInfo {
  uint64_t snapshots = 0, missed = 0, bytes = 0;
  double interval_s = 0, longest_s = 0;  // as requested; the longest of all
  double cost_s = 0;                     // CPU time of the recorder
  bool ended = false;
};

// The pieces of a recording (--rotate) that lie in the profile.
struct PieceInfo {
  std::string directory;
  profile::Piece piece;
};

struct ProfileInfo {
  std::string directory;
  uint64_t bytes = 0;  // on disk
  profile::Meta meta;
  bool finished = false;
  double seconds = 0;  // of the run
  std::optional<JittedInfo> jitted;
  std::optional<KernelEventInfo> events;
  std::optional<SeriesInfo> series;
  std::vector<PieceInfo> pieces;  // the oldest first
  std::vector<std::string> damages;
  std::optional<profile::MergedMeta> merged;  // empty unless the profile was merged
  std::optional<profile::Imported> imported;  // empty unless the profile was imported
  model::ProcessAttributes attributes;        // that the program has published
  std::optional<CallInfo> calls;              // empty in mode tprof, which only logs jitted code
};

// Returns the bytes on disk of the files in a directory. Adds a line to `damages` for each file
// whose size cannot be read.
uint64_t BytesOf(const std::string& directory, std::vector<std::string>& damages);

// Fails if the directory is not a profile, is one of another version, or if its
// tree cannot be read.
Result<ProfileInfo> ReadProfileInfo(const std::string& directory);

}  // namespace jprof::cli
