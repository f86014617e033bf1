// Writes counts over time for a profile that a test has made.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "profile/files/file_list.h"
#include "profile/log/log_writer.h"
#include "profile/series/series_encoder.h"
#include "profile/series/series_format.h"

namespace jprof::profile {

// Adds a series of one snapshot, which has all counts, to the profile in the directory. Returns
// false if that fails.
inline bool WriteSeries(const std::filesystem::path& directory, uint32_t extras = 0) {
  const auto read = [&](const char* name) {
    std::ifstream file(directory / name, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const std::string control = read(kControlFile), nodes = read(kNodesFile),
                    extra = read(kExtraFile);
  constexpr uint64_t kSecond = 1'000'000'000;
  LogWriter file;
  if (!file.Open(directory / kSeriesFile, kSeriesFormat, {})) return false;
  SeriesEncoder encoder(uint64_t{1} << 30);
  const auto snapshot = encoder.Take({.control = control.data(),
                                      .nodes = reinterpret_cast<const Node*>(nodes.data()),
                                      .extra = reinterpret_cast<const int64_t*>(extra.data()),
                                      .control_bytes = control.size() / 8 * 8,
                                      .node_count = nodes.size() / sizeof(Node),
                                      .extras = extras},
                                     kSecond, 0, /*last=*/true);
  file.Write({.records = snapshot.records, .end_ns = kSecond}, snapshot.content);
  return file.Close(kSecond).has_value();
}

}  // namespace jprof::profile
