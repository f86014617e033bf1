#include "model/lines/load_lines.h"

#include <algorithm>
#include <utility>

namespace jprof::model {
namespace {

// Adds a run. The first one with values, or else the first one, becomes Lines::source.
Result<void> AddRun(Source& source, const ForestOptions& options, bool with_calls, bool with_values,
                    LineSums& sums, Lines& lines) {
  Result<Forest> forest =
      LoadForest(source, {.merged = true, .metric = options.metric, .call_sites = true});
  if (!forest) return std::unexpected(forest.error());
  with_values = with_values && forest->metric_count() > 0;
  sums.Add(*forest, with_calls, with_values);
  lines.has_calls |= with_calls && forest->calls > 0;
  const bool is_first_with_values = with_values && !lines.metric;
  if (is_first_with_values) lines.metric = forest->metrics[0];
  if (lines.source == nullptr || is_first_with_values) {
    lines.source = &source;
    lines.forest = *std::move(forest);
  }
  return {};
}

bool HasLine(const MethodLines& method) {
  return std::ranges::any_of(method.lines, [](const LineSum& line) { return line.line != 0; });
}

Lines Finished(LineSums& sums, Lines lines) {
  lines.whole = sums.whole();
  lines.methods = sums.Take();
  std::erase_if(lines.methods, [](const MethodLines& method) { return !HasLine(method); });
  return lines;
}

}  // namespace

bool HasSites(const Source& source) { return source.reader.meta().options.sites; }

bool HasSites(const Combined& combined) {
  const auto has_sites = [](const Source& source) { return HasSites(source); };
  return HasSites(combined.counted) || std::ranges::any_of(combined.sampled, has_sites);
}

Result<Lines> LoadLines(Source& source, const ForestOptions& options) {
  Lines lines;
  LineSums sums;
  if (auto added = AddRun(source, options, true, true, sums, lines); !added)
    return std::unexpected(added.error());
  return Finished(sums, std::move(lines));
}

Result<Lines> LoadLines(Combined& combined, const ForestOptions& options) {
  if (!HasSites(combined)) {
    return WrongUse("no run of {} was recorded with source lines; record it again",
                    combined.directory);
  }
  Lines lines;
  LineSums sums;
  for (Source& sampled : combined.sampled) {
    if (!HasSites(sampled)) continue;
    if (auto added = AddRun(sampled, options, false, true, sums, lines); !added)
      return std::unexpected(added.error());
  }
  if (HasSites(combined.counted)) {
    if (auto added = AddRun(combined.counted, {}, true, false, sums, lines); !added)
      return std::unexpected(added.error());
  }
  return Finished(sums, std::move(lines));
}

}  // namespace jprof::model
