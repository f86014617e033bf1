// jprof report: one report over one profile.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include "calibrate/train/table_store.h"
#include "cli/choices.h"
#include "cli/commands.h"
#include "cli/profile_place.h"
#include "cli/wrong_words.h"
#include "common/nearest.h"
#include "reports/report_list.h"
#include "reports/tprof.h"

namespace jprof::cli {
namespace {

namespace fs = std::filesystem;

struct Arguments {
  std::string report = "log-rt";
  std::string directory;
  std::string format = "text";
  std::string threads = "separate";
  std::string sort = "first";
  std::string table;
  bool uncalibrated = false;
  bool force = false;
  reports::Options options;
};

// The newest profile in the working directory.
Result<std::string> NewestProfile() {
  std::error_code error;
  std::string newest;
  fs::file_time_type time;
  for (const fs::directory_entry& entry : fs::directory_iterator(".", error)) {
    if (entry.path().extension() != ".jprof" || !IsProfile(entry.path())) continue;
    const fs::file_time_type changed = fs::last_write_time(entry.path(), error);
    if (!newest.empty() && changed <= time) continue;
    newest = entry.path().filename().string();
    time = changed;
  }
  if (newest.empty()) {
    return WrongUse("no profile (*.jprof) in the working directory; name one, or make one: jprof callflow -- java ...");
  }
  fmt::print(stderr, "jprof: using {}, the newest profile here\n", newest);
  return newest;
}

// A name that is not there gets the nearest *.jprof beside it as a suggestion.
std::string DidYouMean(const fs::path& directory) {
  std::error_code error;
  std::vector<std::string> names;
  const fs::path parent = directory.has_parent_path() ? directory.parent_path() : ".";
  for (const fs::directory_entry& entry : fs::directory_iterator(parent, error)) {
    if (entry.path().extension() == ".jprof") names.push_back(entry.path().filename().string());
  }
  const std::vector<std::string_view> choices(names.begin(), names.end());
  const auto nearest = Nearest(directory.filename().string(), choices);
  return nearest ? fmt::format("; did you mean '{}'?", (parent == "." ? fs::path(*nearest) : parent / *nearest).string())
                 : "";
}

void UseTable(reports::Source& source, calibrate::Table table, std::string from) {
  for (calibrate::Metric& metric : table.metrics) {
    if (metric.bias != 0) metric = Rebased(std::move(metric), source.reader.meta().bracket_bias());
  }
  source.table = std::move(table);
  source.table_from = std::move(from);
}

// --table FILE: it must fit, or --force.
Result<void> UseNamedTable(reports::Source& source, const Arguments& arguments) {
  Result<calibrate::StoredTable> stored = calibrate::LoadTable(arguments.table);
  if (!stored) return std::unexpected(Error{stored.error().message, 2});
  const auto differences = calibrate::Differences(stored->table.fingerprint, source.reader.meta().fingerprint);
  if (!differences.empty() && !arguments.force) {
    return WrongUse("{}: does not fit this profile: {}; train one that does (jprof calibrate) or use it anyway: --force",
                    arguments.table, fmt::join(differences, "; "));
  }
  UseTable(source, std::move(stored->table),
           arguments.table + (differences.empty() ? "" : " BY FORCE (" + fmt::format("{}", fmt::join(differences, "; ")) + ")"));
  return {};
}

// The profile's own table, else the user's that fits; none is no error, the report says so.
Result<void> FindTable(reports::Source& source, const Arguments& arguments) {
  if (arguments.uncalibrated) {
    source.uncalibrated = "asked for by --uncalibrated";
    return {};
  }
  if (!arguments.table.empty()) return UseNamedTable(source, arguments);
  if (source.reader.meta().metrics.empty()) return {};
  const calibrate::Fingerprint& fingerprint = source.reader.meta().fingerprint;
  const std::string own = source.reader.ReadCalibration();
  if (!own.empty()) {
    Result<calibrate::Table> table = calibrate::FromJson(own);
    if (table && calibrate::Differences(table->fingerprint, fingerprint).empty()) {
      UseTable(source, std::move(*table), std::string("the profile's ") + profile::kCalibrationFile);
      return {};
    }
    source.reader.damages().Add(fmt::format("{}: {}", profile::kCalibrationFile,
        table ? fmt::format("does not fit: {}", fmt::join(calibrate::Differences(table->fingerprint, fingerprint), "; "))
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

// Words to options, and back an error that names the nearest choice.
Result<const reports::Report*> Understand(Arguments& arguments) {
  std::vector<std::string_view> names;
  for (const reports::Report& report : reports::Reports()) names.push_back(report.name);
  const Result<size_t> report = Choose("report", arguments.report, names);
  if (!report) return std::unexpected(report.error());
  const Result<reports::Format> format = ChooseFormat(arguments.format);
  if (!format) return std::unexpected(format.error());
  const Result<size_t> threads = Choose("--threads", arguments.threads, {"separate", "merged"});
  if (!threads) return std::unexpected(threads.error());
  const Result<size_t> sort = Choose("--sort", arguments.sort, {"first", "base", "calls"});
  if (!sort) return std::unexpected(sort.error());
  arguments.options.format = *format;
  arguments.options.merged = *threads == 1;
  arguments.options.sort = static_cast<reports::Sort>(*sort);
  return &reports::Reports()[*report];
}

// A recording of `jprof tprof` is no profile: it has samples and no tree.
Result<void> PrintRecording(const Arguments& arguments) {
  if (arguments.directory.empty()) return WrongUse("name the recording: jprof report tprof DIR");
  const Result<reports::Format> format = ChooseFormat(arguments.format);
  if (!format) return std::unexpected(format.error());
  auto recording = reports::OpenRecording(arguments.directory);
  if (!recording) return std::unexpected(recording.error());
  reports::Output out(stdout, isatty(STDOUT_FILENO) && std::getenv("NO_COLOR") == nullptr);
  const reports::TprofOptions options = {.format = *format,
                                         .clip = arguments.options.min_percent};
  if (auto printed = reports::PrintTprof(*recording, options, out); !printed) return printed;
  return out.Finish();
}

Result<void> Run(Arguments arguments) {
  std::error_code error;
  if (arguments.report == "tprof") return PrintRecording(arguments);
  if (arguments.directory.empty() && fs::is_directory(arguments.report, error)) {  // jprof report app.jprof
    arguments.directory = std::exchange(arguments.report, "log-rt");
  }
  const Result<const reports::Report*> report = Understand(arguments);
  if (!report) return std::unexpected(report.error());
  if (arguments.directory.empty()) {
    Result<std::string> newest = NewestProfile();
    if (!newest) return std::unexpected(newest.error());
    arguments.directory = *newest;
  }
  Result<profile::Reader> reader = profile::Reader::Open(arguments.directory);
  if (!reader) {
    const bool there = fs::exists(arguments.directory, error);
    return std::unexpected(Error{reader.error().message + (there ? "" : DidYouMean(arguments.directory)),
                                 reader.error().exit_code});
  }
  reports::Source source{.reader = std::move(*reader)};
  if (auto found = FindTable(source, arguments); !found) return found;
  reports::Output out(stdout, isatty(STDOUT_FILENO) && std::getenv("NO_COLOR") == nullptr);
  if (auto printed = (*report)->print(source, arguments.options, out); !printed) return printed;
  return out.Finish();
}

}  // namespace

void AddReportCommand(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("report", "Prints a report of a profile: log-rt, methods or log-gen");
  std::string list = "Reports:\n";
  for (const reports::Report& report : reports::Reports()) list += fmt::format("  {:<10}{}\n", report.name, report.says);
  list += "  tprof     of a recording by jprof tprof: processes, threads, modules, symbols\n";
  command->footer(list +
                  "\nExamples:\n"
                  "  jprof report log-rt app.jprof                       the call tree\n"
                  "  jprof report log-rt --min-percent 1 --cumulative    only what costs 1 % or more, with sums\n"
                  "  jprof report log-rt --raw app.jprof                 raw, removed, rest and error side by side\n"
                  "  jprof report methods app.jprof | head -40           the hottest methods\n"
                  "  jprof report log-rt --format json app.jprof | jq .  for programs (docs/PROFILE_FORMAT.md)");
  reports::Options& options = arguments->options;
  command->add_option("report", arguments->report, "Which report (log-rt)");
  command->add_option("profile", arguments->directory, "The profile's directory; the newest *.jprof here if left out");
  command->add_option("--format", arguments->format, "text (default), json or csv");
  command->add_option("--threads", arguments->threads, "separate (default) or merged: all threads as one tree");
  command->add_option("--sort", arguments->sort, "Siblings by first (call, default), base or calls");
  command->add_option("--min-percent", options.min_percent, "Fold subtrees below this share of the whole into one row")
      ->check(CLI::Range(0.0, 100.0));
  command->add_option("--depth", options.depth, "Fold levels beyond this one");
  command->add_flag("--cumulative", options.cumulative, "Add each row's sum with all below it");
  command->add_flag("--raw", options.raw, "Show RAW, ADJUST, BASE and ERROR side by side");
  command->add_flag("--static-letters", options.static_letters, "Lower case type letters for static methods");
  auto* uncalibrated = command->add_flag("--uncalibrated", arguments->uncalibrated, "Leave the profiler's own cost in");
  command->add_option("--table", arguments->table, "Correct with this calibration table")->excludes(uncalibrated);
  command->add_flag("--force", arguments->force, "Use --table even if it was made for another machine or JVM");
  command->callback([arguments, &exit_code] {
    Result<void> done;
    try {
      done = Run(*arguments);
    } catch (const fs::filesystem_error& error) {
      done = Fail("{}", error.what());
    } catch (const std::bad_alloc&) {
      done = Fail("not enough memory for this profile's tree; profile with a smaller --tree-memory, or report elsewhere");
    }
    if (done) return;
    PrintError(done.error().message);
    exit_code = done.error().exit_code;
  });
}

}  // namespace jprof::cli
