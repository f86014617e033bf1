#include "record/series/series_recorder.h"

#include <charconv>
#include <optional>
#include <utility>

#include "common/monotonic.h"
#include "profile/files/printable_text.h"
#include "record/place/profile_place.h"
#include "record/series/profile_pieces.h"
#include "record/series/profile_series.h"

namespace jprof::record {
namespace {

constexpr uint64_t kMilli = 1'000'000, kSecond = 1000 * kMilli, kHour = 3600 * kSecond;
constexpr int64_t kFindAgain = 1'000'000'000;  // ns; a command may start JVMs at any time

// Parses a time from `least` to `most`, in nanoseconds.
std::optional<uint64_t> ParseTime(std::string_view text, uint64_t least, uint64_t most) {
  constexpr std::pair<std::string_view, uint64_t> kUnits[] = {{"ms", kMilli},      {"s", kSecond},
                                                              {"m", 60 * kSecond}, {"h", kHour},
                                                              {"d", 24 * kHour},   {"", kSecond}};
  uint64_t value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, problem] = std::from_chars(text.data(), last, value);
  const std::string_view unit(end, static_cast<size_t>(last - end));
  for (const auto& [name, ns] : kUnits) {
    if (problem != std::errc() || unit != name || value > most / ns) continue;
    if (value * ns >= least) return value * ns;
  }
  return std::nullopt;
}

}  // namespace

Result<uint64_t> ParseSeries(std::string_view text) {
  if (const auto interval = ParseTime(text, 100 * kMilli, kHour)) return *interval;
  return WrongUse("--series '{}' is no interval from 100ms to 1h, such as 1s or 500ms",
                  profile::CleanText(text));
}

Result<uint64_t> ParseRotate(std::string_view text) {
  if (const auto length = ParseTime(text, kSecond, 7 * 24 * kHour)) return *length;
  return WrongUse("--rotate '{}' is no length of a piece from 1s to 7d, such as 10m or 1h",
                  profile::CleanText(text));
}

SeriesRecorder::SeriesRecorder(std::filesystem::path place, const SnapshotOptions& options,
                               std::filesystem::path shown)
    : place_(std::move(place)), options_(options), shown_(std::move(shown)) {}

SeriesRecorder::~SeriesRecorder() = default;

void SeriesRecorder::FindProfiles(int64_t now) {
  if (!profiles_.empty() && now < find_again_ns_) return;
  find_again_ns_ = now + kFindAgain;
  for (const auto& path : ProfilesAt(place_)) {
    const auto [known, is_new] = profiles_.try_emplace(path);
    if (!is_new) continue;
    auto& recorders = known->second;
    const auto& shown = path == place_ && !shown_.empty() ? shown_ : path;
    if (options_.series_ns != 0)
      recorders.push_back(std::make_unique<ProfileSeries>(path, shown, options_.series_ns));
    if (options_.rotate_ns != 0)
      recorders.push_back(std::make_unique<ProfilePieces>(path, shown, options_));
  }
}

void SeriesRecorder::Look() {
  if (!options_.Any()) return;
  const int64_t now = MonotonicNanos();
  FindProfiles(now);
  for (const auto& [path, recorders] : profiles_)
    for (const auto& recorder : recorders) recorder->Look(now);
}

std::vector<std::string> SeriesRecorder::End() {
  std::vector<std::string> lines;
  if (!options_.Any()) return lines;
  find_again_ns_ = 0;
  FindProfiles(MonotonicNanos());
  for (const auto& [path, recorders] : profiles_) {
    for (const auto& recorder : recorders)
      if (auto line = recorder->End(); !line.empty()) lines.push_back(std::move(line));
  }
  options_ = {};
  return lines;
}

}  // namespace jprof::record
