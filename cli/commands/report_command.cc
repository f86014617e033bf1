// `jprof report`: prints a report of a profile.
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <ranges>
#include <string>
#include <system_error>
#include <vector>

#include "cli/commands/trace_report.h"
#include "cli/shared/choices.h"
#include "cli/shared/commands.h"
#include "cli/shared/profile_source.h"
#include "cli/shared/report_options.h"
#include "cli/shared/usage_error.h"
#include "cli/shared/view_output.h"
#include "common/shell_word.h"
#include "reports/combined/refit.h"
#include "reports/report_list.h"
#include "reports/ticks/tprof.h"

namespace jprof::cli {
namespace {

namespace fs = std::filesystem;

struct ReportArguments {
  std::optional<CommandLine> line;  // knows which options are given
  std::string report;               // if empty, scs of a sampled profile, else log-rt
  std::string directory;
  std::string format = "text";
  std::string threads = "separate";
  std::string sort;
  std::string out;  // of html
  TableChoice table;
  std::string refit;  // empty, kRefitToOwn, or directories separated by commas
  reports::Options options;
  reports::ArcOptions arc;  // only those that other reports lack
};

Result<const reports::ReportEntry*> ChooseReport(std::string_view name) {
  std::vector<std::string_view> names;
  for (const reports::ReportEntry* report : reports::AllReports()) names.push_back(report->name);
  const Result<size_t> report = Choose("report", name, names);
  if (!report) return std::unexpected(report.error());
  return reports::AllReports()[*report];
}

// Parses the value of --sort. Without it each report has its own order.
Result<std::optional<reports::Sort>> ChooseSort(std::string_view word) {
  if (word.empty()) return std::nullopt;
  if (word == "samples") word = "base";
  const Result<size_t> sort = Choose("--sort", word, {"first", "base", "calls"});
  if (!sort) return std::unexpected(sort.error());
  return static_cast<reports::Sort>(*sort);
}

// Sets the options that are one of several choices. Errors name the nearest choice.
Result<void> SetOptions(ReportArguments& arguments) {
  const Result<reports::Format> format = ChooseFormat(arguments.format, reports::kAllFormats);
  if (!format) return std::unexpected(format.error());
  const Result<size_t> threads = Choose("--threads", arguments.threads, {"separate", "merged"});
  if (!threads) return std::unexpected(threads.error());
  const Result<std::optional<reports::Sort>> sort = ChooseSort(arguments.sort);
  if (!sort) return std::unexpected(sort.error());
  arguments.options.format = *format;
  arguments.options.merged = *threads == 1;
  arguments.options.sort = *sort;
  return {};
}

// Returns the names of the reports that have an option.
std::string ReportsWith(std::string_view option) {
  std::vector<std::string_view> names;
  for (const reports::ReportEntry* report : reports::AllReports()) {
    if (report->HasOption(option, reports::Format::kText) ||
        report->HasOption(option, reports::Format::kCollapsed))
      names.push_back(report->name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

// Fails for an option or a format that the report does not have.
Result<void> CheckUse(const reports::ReportEntry& report, const ReportArguments& arguments) {
  const reports::Format format = arguments.options.format;
  for (const std::string& name : arguments.line->GivenOptions()) {
    if (report.HasOption(name, format)) continue;
    const bool stacks = format == reports::Format::kCollapsed && !report.collapsed_options.empty();
    return WrongUse("report {}{} has no {} (of: {}); its options: {}", report.name,
                    stacks ? " --format collapsed" : "", name, ReportsWith(name),
                    stacks ? report.collapsed_options : report.options);
  }
  if (report.formats.empty()) return {};
  return reports::CheckOffered(report.name, report.formats, format);
}

// Prints a recording of `jprof tprof`. It is not a profile, because it has samples but no tree.
Result<void> PrintRecording(const ReportArguments& arguments) {
  if (arguments.directory.empty()) return WrongUse("name the recording: jprof report tprof DIR");
  auto recording = reports::OpenRecording(arguments.directory);
  if (!recording) return std::unexpected(recording.error());
  reports::Output out(stdout, reports::ShowsColour(stdout));
  const reports::TprofOptions options = {.format = arguments.options.format,
                                         .clip = arguments.options.min_percent};
  if (auto printed = reports::PrintTprof(*recording, options, out); !printed) return printed;
  return out.Finish();
}

// Prints a trace of `jprof itrace`.
Result<void> PrintTrace(const ReportArguments& arguments) {
  reports::ArcOptions options = arguments.arc;
  options.format = arguments.options.format;
  options.min_percent = arguments.options.min_percent;
  options.merged = arguments.options.merged;
  return PrintTraceReport(arguments.directory, options);
}

// Writes the HTML view to a file.
Result<void> PrintHtmlView(ReportArguments arguments) {
  if (arguments.out.empty()) arguments.out = ViewName(arguments.directory);
  auto written = WriteView({arguments.directory}, arguments.table, arguments.out);
  if (written && arguments.out != "-") PrintError("view: " + arguments.out);
  return written;
}

// Prints a combined profile, which has several runs, but one report.
Result<void> PrintCombinedProfile(const ReportArguments& arguments) {
  auto combined = OpenCombined(arguments.directory, arguments.table);
  if (!combined) return std::unexpected(combined.error());
  reports::Output out(stdout, reports::ShowsColour(stdout));
  if (auto printed = reports::PrintCombined(*combined, arguments.options, out); !printed)
    return printed;
  return out.Finish();
}

// Opens the counted run of a combined profile, which has no production times without sampled runs.
Result<reports::Source> OpenCountedAlone(const ReportArguments& arguments) {
  const Result<std::string> counted = CountedRun(arguments.directory);
  if (!counted) return std::unexpected(counted.error());
  return OpenSource(*counted, arguments.table);
}

// Opens the counted run of a combined profile, for log-rt with the production times of its
// contexts.
Result<reports::Source> OpenCounted(const ReportArguments& arguments) {
  if (arguments.report != "log-rt") return OpenCountedAlone(arguments);
  auto combined = OpenCombined(arguments.directory, arguments.table);
  const Result<reports::CombinedView> view =
      combined ? reports::LoadCombined(*combined) : std::unexpected(combined.error());
  if (!view) {
    auto alone = OpenCountedAlone(arguments);
    if (alone) PrintError("no production times: " + view.error().message);
    return alone;
  }
  combined->counted.production = reports::ProductionOf(*view);
  return std::move(combined->counted);
}

constexpr std::string_view kRefitToOwn = "true";  // a flag without a value

// Opens the profile, and refits its table if requested.
Result<reports::Source> OpenReported(const ReportArguments& arguments) {
  if (arguments.refit.empty()) {
    return profile::IsCombined(arguments.directory)
               ? OpenCounted(arguments)
               : OpenSource(arguments.directory, arguments.table);
  }
  std::vector<std::string> sampled;
  if (arguments.refit != kRefitToOwn) {
    for (const auto part : std::views::split(arguments.refit, ','))
      sampled.emplace_back(part.begin(), part.end());
  }
  auto opened = OpenCountedAndSampled(arguments.directory, sampled, arguments.table);
  if (!opened) return std::unexpected(opened.error());
  const auto refitting = reports::RefitToSamples(opened->counted, opened->sampled);
  if (!refitting) return std::unexpected(refitting.error());
  reports::UseRefitted(opened->counted, *refitting);
  return std::move(opened->counted);
}

// Prints a report of one profile, or of the counted run of a combined one. If `named` is null, the
// kind of the profile selects the report.
Result<void> PrintProfile(const reports::ReportEntry* named, ReportArguments arguments) {
  if (profile::IsCombined(arguments.directory)) {
    if (arguments.line->IsGiven("--threads") && !arguments.options.merged) {
      return WrongUse(
          "the threads of a combined profile are merged; those of its counted run: "
          "jprof report {} {}",
          named->name, RunPaths(arguments.directory));
    }
    arguments.options.merged = true;  // the sampled runs have other threads
  }
  Result<reports::Source> source = OpenReported(arguments);
  if (!source) return std::unexpected(source.error());
  const std::string_view name = named != nullptr                       ? named->name
                                : source->reader.meta().is(Mode::kScs) ? "scs"
                                                                       : "log-rt";
  const reports::Report& report =
      *std::ranges::find(reports::Reports(), name, &reports::Report::name);
  if (auto used = CheckUse(report, arguments); !used) return used;
  reports::Output out(stdout, reports::ShowsColour(stdout));
  if (auto printed = reports::PrintReport(report, *source, arguments.options, out); !printed)
    return printed;
  return out.Finish();
}

// Returns the report that is named, or that the directory alone requires, or null if the kind of
// the profile selects it. Fails if there is none of that name, or if it lacks one of the given
// options.
Result<const reports::ReportEntry*> TakeReport(ReportArguments& arguments) {
  std::error_code error;
  if (arguments.directory.empty() &&
      fs::is_directory(arguments.report, error)) {  // jprof report app.jprof
    arguments.directory = std::exchange(arguments.report, "");
  }
  const reports::ReportEntry* report = nullptr;
  if (!arguments.report.empty()) {
    const auto named = ChooseReport(arguments.report);
    if (!named) return named;
    report = *named;
  } else if (reports::IsArcRecording(arguments.directory)) {
    report = &reports::kArcReport;
  } else if (profile::IsCombined(arguments.directory)) {
    report = &reports::kCombinedReport;
  }
  if (report == nullptr) return report;
  if (auto used = CheckUse(*report, arguments); !used) return std::unexpected(used.error());
  return report;
}

// Selects the newest profile if none is named.
Result<void> TakeNewest(ReportArguments& arguments) {
  if (!arguments.directory.empty()) return {};
  const auto newest = NewestProfile(/*combined=*/true);
  if (!newest) return std::unexpected(newest.error());
  arguments.directory = *newest;
  return {};
}

Result<void> Run(ReportArguments arguments) {
  if (auto set = SetOptions(arguments); !set) return set;
  Result<const reports::ReportEntry*> report = TakeReport(arguments);
  if (!report) return std::unexpected(report.error());
  if (*report == &reports::kArcReport) return PrintTrace(arguments);
  const bool is_html = *report == &reports::kHtmlReport;
  if (!is_html && reports::IsArcRecording(arguments.directory)) {
    return WrongUse("{} is a trace of jprof itrace; its report: jprof report arc {}",
                    arguments.directory, ShellWord(arguments.directory));
  }
  if (*report == &reports::kTprofReport) return PrintRecording(arguments);
  if (auto newest = TakeNewest(arguments); !newest) return newest;
  if (is_html) return PrintHtmlView(arguments);
  if (*report == nullptr) report = TakeReport(arguments);  // the newest may be a combined one
  if (!report) return std::unexpected(report.error());
  if (*report == &reports::kCombinedReport) return PrintCombinedProfile(arguments);
  return PrintProfile(*report, std::move(arguments));
}

// Returns "log-rt|methods|...", for help and completion.
std::string ReportNames() {
  const auto names = reports::AllReports() | std::views::transform(&reports::ReportEntry::name);
  return fmt::format("{}", fmt::join(names, "|"));
}

std::string AllFormatNames() {
  std::string names;
  for (const reports::Format format : reports::kAllFormats)
    names += fmt::format("{}{}", names.empty() ? "" : "|", reports::EntryOf(format).name);
  return names;
}

}  // namespace

Action ReportCommand(CommandLine line, const Command&) {
  auto arguments = std::make_shared<ReportArguments>();
  arguments->line.emplace(line);
  std::string list = "Reports:\n";
  for (const reports::ReportEntry* report : reports::AllReports())
    list += fmt::format("  {:<10}{}\n", report->name, report->help);
  line.Footer(
      list +
      "\nExamples:\n"
      "  jprof report log-rt app.jprof                       the call tree\n"
      "  jprof report log-rt --min-percent 1 --cumulative    only rows of 1 % or more, with sums\n"
      "  jprof report log-rt --raw app.jprof                 "
      "raw, subtracted and corrected values, and errors\n"
      "  jprof report combined app.jprof                     "
      "exact calls and true times, of jprof profile\n"
      "  jprof report combined --min-percent 1 app.jprof     "
      "only contexts of 1 % of the time or more\n"
      "  jprof report methods app.jprof | head -40           the hottest methods\n"
      "  jprof report html app.jprof -o app.html             flame graph and tables for a browser\n"
      "  jprof report arc app.itrace --top 20                functions and calls of a trace\n"
      "  jprof report arc app.itrace --listing --function work    its instructions, with counts\n"
      "  jprof report scs --format collapsed app.jprof       stacks for flame-graph tools\n"
      "  jprof report log-rt --format json app.jprof | jq .  for programs "
      "(docs/PROFILE_FORMAT.md)");
  reports::Options& options = arguments->options;
  line.Option(
      "report", arguments->report, ReportNames(),
      "The report (default: log-rt; scs for a sampled profile, combined for a combined one)");
  line.Option("profile", arguments->directory, "PROFILE",
              "The profile's directory; the newest *.jprof here if left out");
  line.Option("--format", arguments->format, AllFormatNames(),
              "One of " + reports::FormatNames(reports::kAllFormats) +
                  "; text is the default, and not every report has all");
  line.Option("--threads", arguments->threads, "separate|merged",
              "separate (default) or merged: all threads as one tree");
  line.Option(
      "--sort", arguments->sort, "first|base|calls",
      "Sort siblings by first (first call; default except for scs), base (or samples) or calls");
  line.Option("--min-percent", options.min_percent, "",
              "Fold subtrees below this share of the whole into one row")
      .Between(0.0, 100.0);
  line.Option("--depth", options.depth, "", "Fold levels beyond this one");
  line.Option("--metric", options.metric, "NAME",
              "Only this metric or event, with its number of samples");
  line.Flag("--cumulative", options.cumulative, "Add the inclusive value of each row");
  line.Flag("--raw", options.raw, "Show RAW, ADJUST, BASE and ERROR side by side");
  AddArcOptions(line, arguments->arc);
  line.Flag("--static-letters", options.static_letters,
            "Print lower-case type letters for static methods");
  line.Option("-o,--out", arguments->out, "FILE",
              "The file of report html (default: NAME.html; - is stdout)");
  AddTableOptions(line, arguments->table);
  line.Flag("--refit", arguments->refit,
            "Refit the calibration table to samples of the same program: those of the combined "
            "profile, or of these profiles (--refit=SAMPLED,SAMPLED...)")
      .Excludes("--uncalibrated");
  return [arguments] { return StatusOf(Run(*arguments)); };
}

}  // namespace jprof::cli
