#include "record/series/series_recorder.h"

#include <charconv>
#include <utility>

#include "common/monotonic.h"
#include "profile/files/printable_text.h"
#include "record/place/profile_place.h"
#include "record/series/profile_series.h"

namespace jprof::record {
namespace {

constexpr uint64_t kMilli = 1'000'000, kShortest = 100 * kMilli, kLongest = 3'600'000 * kMilli;
constexpr int64_t kFindAgain = 1'000'000'000;  // ns; a command may start JVMs at any time

}  // namespace

Result<uint64_t> ParseSeries(std::string_view text) {
  if (text.empty()) return 0;
  constexpr std::pair<std::string_view, uint64_t> kUnits[] = {{"ms", kMilli},
                                                              {"s", 1000 * kMilli},
                                                              {"m", 60'000 * kMilli},
                                                              {"h", kLongest},
                                                              {"", 1000 * kMilli}};
  uint64_t value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, problem] = std::from_chars(text.data(), last, value);
  const std::string_view unit(end, static_cast<size_t>(last - end));
  for (const auto& [name, ns] : kUnits) {
    if (problem != std::errc() || unit != name || value > kLongest / ns) continue;
    if (value * ns >= kShortest) return value * ns;
  }
  return WrongUse("--series '{}' is no interval from 100ms to 1h, such as 1s or 500ms",
                  profile::CleanText(text));
}

SeriesRecorder::SeriesRecorder(std::filesystem::path place, uint64_t interval_ns)
    : place_(std::move(place)), interval_ns_(interval_ns) {}

SeriesRecorder::~SeriesRecorder() = default;

void SeriesRecorder::FindProfiles(int64_t now) {
  if (!profiles_.empty() && now < find_again_ns_) return;
  find_again_ns_ = now + kFindAgain;
  for (const auto& path : ProfilesAt(place_)) {
    auto& series = profiles_[path];
    if (!series) series = std::make_unique<ProfileSeries>(path, interval_ns_);
  }
}

void SeriesRecorder::Look() {
  if (interval_ns_ == 0) return;
  const int64_t now = MonotonicNanos();
  FindProfiles(now);
  for (const auto& [path, series] : profiles_) series->Look(now);
}

std::vector<std::string> SeriesRecorder::End() {
  std::vector<std::string> lines;
  if (interval_ns_ == 0) return lines;
  find_again_ns_ = 0;
  FindProfiles(MonotonicNanos());
  for (const auto& [path, series] : profiles_) {
    if (auto line = series->End(); !line.empty()) lines.push_back(std::move(line));
  }
  interval_ns_ = 0;
  return lines;
}

}  // namespace jprof::record
