#include "profile/merge/merge_inputs.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>

#include "profile/read/combined.h"

namespace jprof::profile {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMergeable =
    "profiles of the modes callflow, calltree, objects and scs can be merged";

Result<void> CheckNotCombined(const std::string& directory) {
  if (!IsCombined(directory)) return {};
  const auto combined = ReadCombined(directory);
  if (!combined) return std::unexpected(combined.error());
  std::string runs;
  for (const Run& run : combined->runs)
    runs += fmt::format("{}{}/{}", runs.empty() ? "" : ", ", directory, run.profile);
  return WrongUse("{}: a combined profile of several runs; give one of its runs: {}", directory,
                  runs);
}

uint64_t CallsOf(const CallTree& tree) {
  uint64_t calls = 0;
  for (const Counts& counts : tree.counts) calls += uint64_t{counts.entries[0]} + counts.entries[1];
  return calls;
}

const char* KindText(Metric::Kind kind) {
  switch (kind) {
    case Metric::Kind::kTime:
      return "time";
    case Metric::Kind::kCount:
      return "count";
    case Metric::Kind::kSamples:
      return "samples";
    case Metric::Kind::kWeighted:
      return "weighted samples";
    case Metric::Kind::kExact:
      return "exact";
    case Metric::Kind::kEstimate:
      return "estimated";
  }
  return "";
}

std::string PeriodText(const Period& period) {
  const char* clock = period.clock == Period::Clock::kCpu       ? " of CPU time"
                      : period.clock == Period::Clock::kElapsed ? " of elapsed time"
                                                                : "";
  return fmt::format("{} {}{}", period.value, period.unit, clock);
}

// Returns how the metrics of the same name differ, or an empty text if they can be added. Their
// scale may differ.
std::string Difference(const Metric& a, const Metric& b) {
  if (a.unit != b.unit) return fmt::format("in {} and in {}", a.unit, b.unit);
  if (a.kind != b.kind)
    return fmt::format("of kind {} and of kind {}", KindText(a.kind), KindText(b.kind));
  const bool same_period = a.period.value == b.period.value && a.period.unit == b.period.unit &&
                           a.period.clock == b.period.clock;
  if (same_period) return "";
  return fmt::format("sampled every {} and every {}", PeriodText(a.period), PeriodText(b.period));
}

std::string NamesOf(const std::vector<Metric>& metrics) {
  std::string names;
  for (const Metric& metric : metrics) names += (names.empty() ? "" : ", ") + metric.name;
  return names.empty() ? "none" : names;
}

Result<void> CheckSame(const Reader& first, const Reader& other) {
  const Meta& a = first.meta();
  const Meta& b = other.meta();
  if (a.mode != b.mode) {
    return WrongUse("{} is a profile of mode {} and {} of mode {}: merge profiles of one mode",
                    first.shown(), a.mode, other.shown(), b.mode);
  }
  const auto name = [](const Metric& metric) { return metric.name; };
  if (!std::ranges::equal(a.metrics, b.metrics, {}, name, name)) {
    return WrongUse("{} has the metrics {} and {} has {}: merge profiles with the same metrics",
                    first.shown(), NamesOf(a.metrics), other.shown(), NamesOf(b.metrics));
  }
  for (size_t m = 0; m < a.metrics.size(); ++m) {
    const std::string difference = Difference(a.metrics[m], b.metrics[m]);
    if (difference.empty()) continue;
    return WrongUse("the metric {} of {} and of {} cannot be added: {}", a.metrics[m].name,
                    first.shown(), other.shown(), difference);
  }
  return {};
}

bool IsAtOrBelow(const fs::path& inner, const fs::path& outer) {
  return std::ranges::mismatch(outer, inner).in1 == outer.end();
}

// Returns the path of an existing or a future directory, without a slash at its end.
fs::path Resolved(const std::string& directory) {
  std::error_code error;
  fs::path path = fs::weakly_canonical(fs::absolute(directory), error);
  if (error) path = fs::absolute(directory).lexically_normal();
  return path.has_filename() ? path : path.parent_path();
}

Result<void> CheckPlaces(const std::vector<std::string>& directories, const std::string& output) {
  const fs::path out = Resolved(output);
  std::map<fs::path, std::string> seen;
  for (const std::string& directory : directories) {
    const fs::path path = Resolved(directory);
    const auto [known, is_new] = seen.try_emplace(path, directory);
    if (!is_new) {
      return WrongUse("{} and {} are the same profile: name each once", known->second, directory);
    }
    if (IsAtOrBelow(path, out) || IsAtOrBelow(out, path)) {
      return WrongUse("the output {} is, contains or is inside the input {}: give another output",
                      output, directory);
    }
  }
  return {};
}

}  // namespace

Result<void> CheckMode(const Reader& reader) {
  const Meta& meta = reader.meta();
  const std::string& mode = meta.mode;
  if (meta.is(Mode::kCalltree) && !meta.metrics.empty()) {
    return WrongUse("{}: a calltree profile with samples; {} (calltree: without samples)",
                    reader.shown(), kMergeable);
  }
  if (meta.is(Mode::kCallflow) || meta.is(Mode::kCalltree) || meta.is(Mode::kScs) ||
      meta.is(Mode::kObjects))
    return {};
  return WrongUse("{}: {}; {}", reader.shown(),
                  mode.empty() ? "its mode is not known (meta.json is damaged)"
                               : fmt::format("a profile of mode {}", mode),
                  kMergeable);
}

Result<std::vector<Reader>> OpenMergeInputs(const std::vector<std::string>& directories,
                                            const std::string& output) {
  if (directories.empty()) return WrongUse("no profile to merge: give the directories of profiles");
  std::vector<Reader> readers;
  for (const std::string& directory : directories) {
    if (auto checked = CheckNotCombined(directory); !checked)
      return std::unexpected(checked.error());
    auto reader = Reader::Open(directory);
    if (!reader) return std::unexpected(reader.error());
    if (auto checked = CheckMode(*reader); !checked) return std::unexpected(checked.error());
    readers.push_back(std::move(*reader));
    if (auto checked = CheckSame(readers.front(), readers.back()); !checked)
      return std::unexpected(checked.error());
  }
  if (auto checked = CheckPlaces(directories, output); !checked)
    return std::unexpected(checked.error());
  return readers;
}

MergedInput DescribeInput(Reader& reader, const CallTree& tree) {
  const Meta& meta = reader.meta();
  const auto merged = ReadMerged(reader);
  MergedInput described = {.path = reader.shown(),
                           .command = meta.command,
                           .pid = meta.pid,
                           .start = meta.start,
                           .finished = reader.header().finished != 0,
                           .cpu_seconds = static_cast<double>(reader.CpuNanos()) / 1e9,
                           .calls = CallsOf(tree),
                           .damages = reader.damages().Lines()};
  if (!merged) return described;
  // If the profile is merged itself, it also lacks what its inputs lacked.
  for (const MergedInput& input : merged->inputs) {
    described.finished &= input.finished;
    for (const std::string& damage : input.damages)
      described.damages.push_back(fmt::format("{}: {}", input.path, damage));
  }
  return described;
}

}  // namespace jprof::profile
