#include "shared/open_combined.h"

#include <algorithm>
#include <iterator>

#include "calibrate/model/table.h"
#include "profile/read/combined.h"

namespace jprof::bench {

Result<model::Combined> OpenCombined(const std::string& directory) {
  auto meta = profile::ReadCombined(directory);
  if (!meta) return std::unexpected(meta.error());
  std::ranges::stable_sort(meta->runs, {}, &profile::Run::role);
  std::vector<model::Source> sources;
  for (const profile::Run& run : meta->runs) {
    auto reader = profile::Reader::Open(directory + "/" + run.profile);
    if (!reader) return std::unexpected(reader.error());
    sources.push_back({.reader = *std::move(reader)});
    const std::string own = sources.back().reader.ReadCalibration();
    if (auto table = calibrate::FromJson(own)) sources.back().table = *std::move(table);
  }
  if (sources.size() < 3) return WrongUse("{}: needs two sampled runs", directory);
  model::Combined combined = {.meta = *std::move(meta),
                              .directory = directory,
                              .counted = std::move(sources.front()),
                              .sampled = {}};
  combined.sampled.assign(std::make_move_iterator(sources.begin() + 1),
                          std::make_move_iterator(sources.end()));
  return combined;
}

}  // namespace jprof::bench
