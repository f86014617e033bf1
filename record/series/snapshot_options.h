// What is made of the snapshots of a profile: options of the command.
#pragma once

#include <cstdint>
#include <string_view>

namespace jprof::record {

struct SnapshotOptions {
  uint64_t series_ns = 0;  // --series: between snapshots of counts over time; 0: none are taken
  uint64_t rotate_ns = 0;  // --rotate: length of a piece; 0: there are none
  uint64_t keep = 0;       // --keep: how many of the last pieces; 0: all

  bool Any() const { return series_ns != 0 || rotate_ns != 0; }
};

// Returns the option that asks for snapshots, for messages. Requires Any().
constexpr std::string_view FlagOf(const SnapshotOptions& options) {
  return options.series_ns != 0 ? "--series" : "--rotate";
}

}  // namespace jprof::record
