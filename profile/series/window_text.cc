#include <charconv>
#include <cmath>

#include "profile/series/series.h"

namespace jprof::profile {
namespace {

std::unexpected<Error> NoWindow(std::string_view text) {
  return WrongUse(
      "--window '{}' is no window: give a beginning and an end, one of which may be missing, such "
      "as 2s..5s, 500ms..1.5s, 2m.., ..30s or 20%..50%",
      CleanText(text));
}

// Returns nanoseconds. Fails if the text is no time. A number alone is in seconds.
std::optional<double> ParseEnd(std::string_view text, double length) {
  struct Unit {
    std::string_view name;
    double ns;
  };
  const Unit units[] = {{"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}, {"%", length / 100}};
  double value = 0;
  const auto [end, problem] =
      std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (problem != std::errc() || !std::isfinite(value) || value < 0) return std::nullopt;
  const std::string_view unit = text.substr(static_cast<size_t>(end - text.data()));
  if (unit.empty()) return value * 1e9;
  for (const Unit& known : units)
    if (unit == known.name) return value * known.ns;
  return std::nullopt;
}

// Returns the number of the snapshot that is nearest to the time; 0 is the beginning.
size_t NearestSnapshot(const std::vector<Series::Interval>& intervals, double ns) {
  size_t nearest = 0;
  double distance = ns;
  for (size_t i = 0; i < intervals.size(); ++i) {
    const double away = std::abs(static_cast<double>(intervals[i].end_ns) - ns);
    if (away > distance) continue;
    nearest = i + 1;
    distance = away;
  }
  return nearest;
}

}  // namespace

Result<WindowBounds> FindWindow(const Series& series, std::string_view text) {
  const auto& intervals = series.intervals();
  if (intervals.empty()) return WrongUse("the series has no snapshot that can be read");
  const auto length = static_cast<double>(intervals.back().end_ns);
  const size_t dots = text.find("..");
  if (dots == text.npos) return NoWindow(text);
  const std::string_view from = text.substr(0, dots), to = text.substr(dots + 2);
  if (from.empty() && to.empty()) return NoWindow(text);
  const auto begin = from.empty() ? std::optional(0.0) : ParseEnd(from, length);
  const auto end = to.empty() ? std::optional(length) : ParseEnd(to, length);
  if (!begin || !end) return NoWindow(text);
  if (*begin >= length) {
    return WrongUse("--window '{}' begins after the last snapshot, which is at {:.3f} s", text,
                    length / 1e9);
  }
  if (*begin >= *end) return WrongUse("--window '{}' ends before it begins", text);
  WindowBounds bounds = {.first = from.empty() ? 0 : NearestSnapshot(intervals, *begin),
                         .last = to.empty() ? intervals.size() : NearestSnapshot(intervals, *end)};
  bounds.first = std::min(bounds.first, intervals.size() - 1);
  bounds.last = std::max(bounds.last, bounds.first + 1);
  return bounds;
}

Result<void> RestrictTo(Reader& reader, const std::string& text) {
  const auto series = Series::Open(reader);
  if (!series) return std::unexpected(series.error());
  const auto bounds = FindWindow(*series, text);
  if (!bounds) return std::unexpected(bounds.error());
  auto window = series->Load(bounds->first, bounds->last);
  if (!window) return std::unexpected(window.error());
  (*window)->asked = text;
  for (const std::string& damage : series->damages()) reader.damages().Add(damage);
  if (series->is_partial())
    reader.damages().Add(
        "series: for lack of memory, counts of some contexts are only in the last interval");
  reader.Restrict(*std::move(window));
  return {};
}

}  // namespace jprof::profile
