// The rows of the tables `runs` and `threads`, and what a run is known by.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/result.h"
#include "fleet/push/encode.h"
#include "profile/read/reader.h"

namespace jprof::fleet {

// The last day that the database can hold, since 1970: in 2106.
inline constexpr uint64_t kLastDay = 49709;

// What the row of a run consists of.
struct RunFacts {
  const profile::Meta& meta;
  const profile::MergedInput& input;
  const profile::ControlHeader& header;
  const RunNames& names;
  std::string calibration;
  uint64_t rows = 0;
  uint64_t contexts = 0;
};

// Returns what a run is known by: its host, its process, its start, and what it was merged from.
// Later states of a profile that is still being written are the same run.
Fingerprint RunOf(profile::Reader& reader, const std::string& host);

// Removes what could tell about users: command line, working directory, options, paths.
void Redact(profile::Meta& meta, profile::MergedInput& input);

// Returns the days since 1970 at the start of the run, kLastDay at most.
uint16_t DayOf(const RunFacts& facts);

// Return rows without their first columns, which differ between pushes. That of a run also lacks
// its last column, the packed header, which has unused bytes of any value.
std::string RunRow(const RunFacts& facts);
std::string ThreadRow(const profile::ThreadRecord& record);

// Returns the profile's metrics and mode as one text. Runs can be added if it is the same.
std::string ShapeOf(const profile::Meta& meta);

// Packs the header of a control file, which is mostly zeros. Unpacked fails if the bytes are none.
std::string Packed(const profile::ControlHeader& header);
Result<profile::ControlHeader> Unpacked(std::string_view bytes);

}  // namespace jprof::fleet
