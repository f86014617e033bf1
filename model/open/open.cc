#include "model/open/open.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "calibrate/store/table_store.h"
#include "common/shell_word.h"
#include "model/combined/combined_contexts.h"
#include "model/combined/refit.h"
#include "model/itrace/arc_contexts.h"
#include "model/timeline/arc_timeline.h"
#include "model/timeline/event_timeline.h"
#include "model/timeline/trace_timeline.h"
#include "profile/files/layout.h"
#include "profile/files/printable_text.h"
#include "profile/series/series.h"

namespace jprof::model {
namespace {

namespace fs = std::filesystem;

const KindRow& RowOf(InputKind kind) { return *std::ranges::find(kKinds, kind, &KindRow::kind); }

void UseTable(Source& source, calibrate::Table table, std::string from) {
  for (calibrate::Metric& metric : table.metrics) {
    if (metric.bias != 0)
      metric = Rebased(std::move(metric), source.reader.meta().clock.timer_overhead());
  }
  source.table = std::move(table);
  source.table_from = profile::CleanText(from);
}

// Uses --table FILE, which must fit unless --force is given.
Result<void> UseNamedTable(Source& source, const TableChoice& choice) {
  Result<calibrate::StoredTable> stored = calibrate::LoadTable(choice.file);
  if (!stored) return std::unexpected(Error{stored.error().message, Error::Kind::kWrongUse});
  const auto differences =
      calibrate::Differences(stored->table.fingerprint, source.reader.meta().fingerprint);
  if (!differences.empty() && !choice.force) {
    return WrongUse(
        "{}: does not fit this profile: {}; make one "
        "that fits with jprof calibrate, or use --force",
        choice.file, fmt::join(differences, "; "));
  }
  UseTable(
      source, std::move(stored->table),
      choice.file + (differences.empty()
                         ? ""
                         : " BY FORCE (" + fmt::format("{}", fmt::join(differences, "; ")) + ")"));
  return {};
}

// Uses the profile's own table, else the user's table that fits. Without one the report states that
// it is not calibrated.
Result<void> FindTable(Source& source, const TableChoice& choice) {
  if (choice.uncalibrated) {
    source.uncalibrated = "requested by --uncalibrated";
    return {};
  }
  if (!choice.file.empty()) return UseNamedTable(source, choice);
  const auto& metrics = source.reader.meta().metrics;
  if (std::ranges::all_of(metrics, &profile::Metric::is_samples)) return {};  // nothing to correct
  const calibrate::Fingerprint& fingerprint = source.reader.meta().fingerprint;
  const std::string own = source.reader.ReadCalibration();
  if (!own.empty()) {
    Result<calibrate::Table> table = calibrate::FromJson(own);
    if (table && calibrate::Differences(table->fingerprint, fingerprint).empty()) {
      UseTable(source, std::move(*table),
               std::string("the profile's ") + profile::kCalibrationFile);
      return {};
    }
    source.reader.damages().Add(fmt::format(
        "{}: {}", profile::kCalibrationFile,
        table
            ? fmt::format("does not fit: {}",
                          fmt::join(calibrate::Differences(table->fingerprint, fingerprint), "; "))
            : table.error().message));
  }
  Result<calibrate::StoredTable> stored = calibrate::FindTable(fingerprint);
  if (stored) {
    UseTable(source, std::move(stored->table), stored->path.string());
  } else {
    source.uncalibrated = stored.error().message;
  }
  return {};
}

// Returns whether it is a trace of jprof trace.
bool IsTraceOfEvents(const Input& input) {
  const auto* source = std::get_if<Source>(&input);
  return source != nullptr && source->reader.meta().is(Mode::kTrace);
}

std::unexpected<Error> Lacks(const Input& input, std::string_view what) {
  return WrongUse("{} is {}, which has no {}", profile::CleanText(ShownNameOf(input)),
                  NameOf(KindOf(input)), what);
}

}  // namespace

InputKind KindOf(const fs::path& directory) {
  return std::ranges::find_if(
             kKinds, [&](const KindRow& row) { return row.is == nullptr || row.is(directory); })
      ->kind;
}

std::string_view NameOf(InputKind kind) { return RowOf(kind).name; }

std::string_view DirectoryOf(const Input& input) {
  return std::visit(
      [](const auto& opened) -> std::string_view {
        if constexpr (requires { opened.reader; }) {
          return opened.reader.directory();
        } else {
          return opened.directory;
        }
      },
      input);
}

Result<Input> Open(const std::string& directory, const TableChoice& choice) {
  return Open(directory, KindOf(directory), choice);
}

Result<Input> Open(const std::string& directory, InputKind kind, const TableChoice& choice) {
  if (!choice.window.empty() && kind != InputKind::kProfile) {
    const std::string runs = kind == InputKind::kCombined ? RunPaths(directory) : "";
    return WrongUse("{} is {}: --window is for one profile{}", profile::CleanText(directory),
                    NameOf(kind), runs.empty() ? "" : "; name one of its runs: " + runs);
  }
  return RowOf(kind).open(directory, choice);
}

Result<Source> OpenSource(const std::string& named, const TableChoice& choice) {
  const std::string directory =
      choice.one_of_several != nullptr ? choice.one_of_several(named) : named;
  Result<profile::Reader> reader = profile::Reader::Open(directory);
  if (!reader) return std::unexpected(reader.error());
  Source source{.reader = std::move(*reader)};
  source.merged = profile::ReadMerged(source.reader);
  if (!choice.window.empty()) {
    if (auto restricted = profile::RestrictTo(source.reader, choice.window); !restricted)
      return std::unexpected(restricted.error());
  }
  source.as_trained = choice.as_trained;
  if (auto found = FindTable(source, choice); !found) return std::unexpected(found.error());
  return source;
}

Result<std::string> CountedRun(const std::string& directory) {
  const auto meta = profile::ReadCombined(directory);
  if (!meta) return std::unexpected(meta.error());
  const auto counted =
      std::ranges::find(meta->runs, profile::Run::Role::kCounted, &profile::Run::role);
  if (counted != meta->runs.end()) return (fs::path(directory) / counted->profile).string();
  return WrongUse("{}: has no counted run; name one of its profiles: {}",
                  profile::CleanText(directory), RunPaths(directory));
}

std::string RunPaths(const std::string& directory) {
  const auto meta = profile::ReadCombined(directory);
  std::vector<std::string> paths;
  for (const profile::Run& run : meta ? meta->runs : std::vector<profile::Run>())
    paths.push_back(ShellWord(profile::CleanText((fs::path(directory) / run.profile).string())));
  return fmt::format("{}", fmt::join(paths, ", "));
}

namespace {

// Opens the counted run and at least so many sampled runs.
Result<Combined> OpenRuns(const std::string& directory, const TableChoice& choice,
                          std::ptrdiff_t least_sampled) {
  auto meta = profile::ReadCombined(directory);
  if (!meta) return std::unexpected(meta.error());
  const auto open = [&](const profile::Run& run, const TableChoice& table) {
    return OpenSource((fs::path(directory) / run.profile).string(), table);
  };
  // Sorts the counted runs to the front.
  std::vector<profile::Run>& runs = meta->runs;
  std::ranges::stable_sort(runs, {}, &profile::Run::role);
  const auto counted_runs =
      std::ranges::count(runs, profile::Run::Role::kCounted, &profile::Run::role);
  const std::ptrdiff_t sampled = std::ssize(runs) - counted_runs;
  if (sampled < least_sampled || counted_runs == 0) {
    return WrongUse("{}: needs at least one counted {}run, has {} and {}",
                    profile::CleanText(directory), least_sampled == 0 ? "" : "and one sampled ",
                    counted_runs, sampled);
  }
  auto counted = open(runs.front(), choice);
  if (!counted) return std::unexpected(counted.error());
  Combined combined = {
      .meta = {}, .directory = directory, .counted = *std::move(counted), .sampled = {}};
  for (auto run = runs.begin() + 1; run != runs.end(); ++run) {
    const bool is_counted = run->role == profile::Run::Role::kCounted;
    // Samples need no table.
    auto source =
        open(*run, is_counted ? choice : TableChoice{.one_of_several = choice.one_of_several});
    if (!source) return std::unexpected(source.error());
    (is_counted ? combined.recounted : combined.sampled).push_back(*std::move(source));
  }
  RefitIfPossible(combined.counted, combined.sampled);
  runs.erase(runs.begin() + 1, runs.begin() + counted_runs);
  combined.meta = *std::move(meta);
  return combined;
}

}  // namespace

Result<Combined> OpenCombined(const std::string& directory, const TableChoice& choice) {
  return OpenRuns(directory, choice, /*least_sampled=*/1);
}

Result<Scale> OpenScale(const std::string& directory, const TableChoice& choice) {
  auto meta = profile::ReadScale(directory);
  if (!meta) return std::unexpected(meta.error());
  Scale scale = {.meta = *std::move(meta), .directory = directory, .runs = {}};
  for (const uint64_t size : scale.meta.sizes) {
    const std::string of_size = (fs::path(directory) / profile::SizeProfile(size)).string();
    auto runs = OpenRuns(of_size, choice, /*least_sampled=*/0);
    if (!runs) return std::unexpected(runs.error());
    scale.runs.push_back(*std::move(runs));
  }
  return scale;
}

std::string_view ShownNameOf(const Input& input) {
  const auto* source = std::get_if<Source>(&input);
  return source != nullptr ? source->reader.shown() : DirectoryOf(input);
}

bool HasEvents(const Input& input) { return HasKernelEvents(std::string(DirectoryOf(input))); }

Result<RecordedEvents> LoadEvents(Input& input) {
  return std::visit(
      [&](auto& opened) -> Result<RecordedEvents> {
        if constexpr (requires { LoadEvents(opened); }) {
          return LoadEvents(opened);
        } else {
          return Lacks(input, "events of the kernel");
        }
      },
      input);
}

std::vector<std::string> EventLosses(const Input& input) {
  return std::visit(
      [](const auto& opened) -> std::vector<std::string> {
        if constexpr (requires { opened.event_losses; }) {
          return opened.event_losses;
        } else {
          return {};
        }
      },
      input);
}

bool HasContexts(const Input& input) {
  const InputKind kind = KindOf(input);
  constexpr InputKind kWithout[] = {InputKind::kTicks, InputKind::kEvents, InputKind::kScale};
  return std::ranges::count(kWithout, kind) == 0 && !IsTraceOfEvents(input);
}

Result<ContextTree> LoadContexts(Input& input, const ForestOptions& options) {
  return std::visit(
      [&](auto& opened) -> Result<ContextTree> {
        if constexpr (requires { LoadContexts(opened, options); }) {
          return LoadContexts(opened, options);
        } else if constexpr (requires { LoadContexts(opened); }) {
          return LoadContexts(opened);
        } else {
          return Lacks(input, "call tree");
        }
      },
      input);
}

bool HasTimeline(const Input& input) {
  return KindOf(input) == InputKind::kTrace || IsTraceOfEvents(input) || HasEvents(input);
}

Result<std::unique_ptr<Timeline>> OpenTimeline(Input& input) {
  if (HasEvents(input) && !IsTraceOfEvents(input)) {
    auto events = LoadEvents(input);
    if (!events) return std::unexpected(events.error());
    return TimelineOf(*std::move(events));
  }
  return std::visit(
      [&](auto& opened) -> Result<std::unique_ptr<Timeline>> {
        if constexpr (requires { OpenTimeline(opened); }) {
          return OpenTimeline(opened);
        } else {
          return Lacks(input, "points in time");
        }
      },
      input);
}

}  // namespace jprof::model
