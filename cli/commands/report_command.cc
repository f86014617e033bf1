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
#include "cli/events/recording_info.h"
#include "cli/shared/choices.h"
#include "cli/shared/commands.h"
#include "cli/shared/pager.h"
#include "cli/shared/profile_source.h"
#include "cli/shared/report_options.h"
#include "cli/shared/usage_error.h"
#include "cli/shared/view_output.h"
#include "common/shell_word.h"
#include "model/combined/refit.h"
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
  TextChoice text;
  std::string out;  // of html
  TableChoice table;
  std::string refit;  // empty, kRefitToOwn, or directories separated by commas
  reports::Options options;
};

// Returns the report of that name.
Result<const reports::Report*> ChooseReport(std::string_view name) {
  std::vector<std::string_view> names;
  for (const reports::Report& report : reports::Reports()) names.push_back(report.name);
  const Result<size_t> report = Choose("report", name, names);
  if (!report) return std::unexpected(report.error());
  return &reports::Reports()[*report];
}

// Parses the value of --sort. Without it each report has its own order.
Result<std::optional<model::Sort>> ChooseSort(std::string_view word) {
  if (word.empty()) return std::nullopt;
  if (word == "samples") word = "base";
  const Result<size_t> sort = Choose("--sort", word, {"first", "base", "calls"});
  if (!sort) return std::unexpected(sort.error());
  return static_cast<model::Sort>(*sort);
}

// Sets the options that are one of several choices. Errors name the nearest choice.
Result<void> SetOptions(ReportArguments& arguments) {
  const Result<reports::Format> format = ChooseFormat(arguments.format, reports::kAllFormats);
  if (!format) return std::unexpected(format.error());
  const Result<size_t> threads = Choose("--threads", arguments.threads, {"separate", "merged"});
  if (!threads) return std::unexpected(threads.error());
  const Result<std::optional<model::Sort>> sort = ChooseSort(arguments.sort);
  if (!sort) return std::unexpected(sort.error());
  const Result<model::NameForm> names = arguments.text.Form();
  if (!names) return std::unexpected(names.error());
  arguments.options.names = *names;
  arguments.options.format = *format;
  arguments.options.merged = *threads == 1;
  arguments.options.separate = arguments.line->IsGiven("--threads");
  arguments.options.sort = *sort;
  return {};
}

// Returns the names of the reports that have an option.
std::string ReportsWith(std::string_view option) {
  std::vector<std::string_view> names;
  for (const reports::Report& report : reports::Reports()) {
    if (report.HasOption(option, reports::Format::kText) ||
        report.HasOption(option, reports::Format::kCollapsed))
      names.push_back(report.name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

// Fails for an option or a format that the report does not have.
Result<void> CheckUse(const reports::Report& report, const ReportArguments& arguments) {
  const reports::Format format = arguments.options.format;
  for (const std::string& name : arguments.line->GivenOptions()) {
    if (report.HasOption(name, format)) continue;
    const bool stacks = format == reports::Format::kCollapsed && !report.collapsed_options.empty();
    return WrongUse("report {}{} has no {} (of: {}); its options: {}", report.name,
                    stacks ? " --format collapsed" : "", name, ReportsWith(name),
                    stacks ? report.collapsed_options : report.options);
  }
  if (report.formats.empty()) return {};
  if (arguments.options.all && !arguments.options.for_people())
    return WrongUse("--all is for text: --format {} has all rows", arguments.format);
  if (auto fits = CheckTextOptions(*arguments.line, arguments.format); !fits) return fits;
  return reports::CheckOffered(report.name, report.formats, format);
}

// Writes the HTML view to a file.
Result<void> PrintHtmlView(ReportArguments arguments) {
  if (arguments.out.empty()) arguments.out = ViewName(arguments.directory);
  auto written = WriteView({arguments.directory}, arguments.table, arguments.out);
  if (!written || arguments.out == "-") return written;
  PrintError("view:    " + arguments.out);
  PrintNext(fmt::format("open {} in a browser", arguments.out));
  return {};
}

// Opens the counted run of a combined profile, which has no production times without sampled runs.
Result<model::Source> OpenCountedAlone(const ReportArguments& arguments) {
  const Result<std::string> counted = model::CountedRun(arguments.directory);
  if (!counted) return std::unexpected(counted.error());
  return OpenProfile(*counted, arguments.table);
}

// Opens the counted run of a combined profile, for log-rt with the production times of its
// contexts.
Result<model::Source> OpenCounted(const ReportArguments& arguments) {
  if (arguments.report != "log-rt") return OpenCountedAlone(arguments);
  auto input = OpenNamed(arguments.directory, arguments.table);
  const Result<model::CombinedView> view =
      input ? model::LoadCombined(std::get<model::Combined>(*input))
            : std::unexpected(input.error());
  if (!view) {
    auto alone = OpenCountedAlone(arguments);
    if (alone) PrintError("no production times: " + view.error().message);
    return alone;
  }
  model::Source& counted = std::get<model::Combined>(*input).counted;
  counted.production = model::ProductionOf(*view);
  return std::move(counted);
}

constexpr std::string_view kRefitToOwn = "true";  // a flag without a value

// Opens the profile, and refits its table if requested.
Result<model::Source> OpenReported(model::InputKind kind, const ReportArguments& arguments) {
  if (arguments.refit.empty()) {
    return kind == model::InputKind::kCombined ? OpenCounted(arguments)
                                               : OpenProfile(arguments.directory, arguments.table);
  }
  std::vector<std::string> sampled;
  if (arguments.refit != kRefitToOwn) {
    for (const auto part : std::views::split(arguments.refit, ','))
      sampled.emplace_back(part.begin(), part.end());
  }
  auto opened = OpenCountedAndSampled(arguments.directory, sampled, arguments.table);
  if (!opened) return std::unexpected(opened.error());
  const auto refitting = model::RefitToSamples(opened->counted, opened->sampled);
  if (!refitting) return std::unexpected(refitting.error());
  model::UseRefitted(opened->counted, *refitting);
  return std::move(opened->counted);
}

// Fails if the report does not print what the directory holds. Reports of a profile print the
// counted run of a combined one.
Result<void> CheckKind(const reports::Report& report, model::InputKind kind,
                       const ReportArguments& arguments) {
  using enum model::InputKind;
  const std::string directory = profile::CleanText(arguments.directory);
  const bool of_profiles = report.Prints(kProfile);
  if (kind == kCombined && of_profiles && arguments.line->IsGiven("--threads") &&
      !arguments.options.merged) {
    return WrongUse(
        "the threads of a combined profile are merged; those of its counted run: jprof report {} "
        "{}",
        report.name, model::RunPaths(arguments.directory));
  }
  if (report.Prints(kind) || (kind == kCombined && of_profiles) || kind == kProfile) return {};
  return WrongUse("{} is {}; its report: jprof report {} {}", directory, model::NameOf(kind),
                  reports::DefaultReport(kind).name, ShellWord(directory));
}

// Opens what the report prints; null: the report that the profile itself selects.
Result<model::Input> OpenFor(const reports::Report* report, model::InputKind kind,
                             const ReportArguments& arguments) {
  using enum model::InputKind;
  const bool is_open = report == nullptr;  // which report it is
  if ((is_open || report->Prints(kProfile)) && (kind == kProfile || kind == kCombined)) {
    auto source = OpenReported(kind, arguments);
    if (!source) return std::unexpected(source.error());
    return *std::move(source);
  }
  if (is_open || report->Prints(kind)) return OpenNamed(arguments.directory, arguments.table);
  return model::Open(arguments.directory, report->kinds.front(), arguments.table);
}

// Fails for a path in the place of a report's name.
Result<void> CheckOrder(const ReportArguments& arguments) {
  const std::string path = profile::CleanText(arguments.report);
  std::error_code error;
  if (fs::is_directory(arguments.report, error)) {
    return WrongUse("the report comes first: jprof report {} {}", arguments.directory,
                    ShellWord(path));
  }
  if (path.find_first_of("./") == path.npos) return {};
  const auto opened = OpenNamed(arguments.report, arguments.table);
  return opened ? Result<void>() : std::unexpected(opened.error());
}

// Returns the report that is named, or null if none is. Fails if it does not exist or lacks an
// option. A directory may stand in its place (jprof report app.jprof).
Result<const reports::Report*> TakeNamed(ReportArguments& arguments) {
  std::error_code error;
  if (arguments.directory.empty() && fs::is_directory(arguments.report, error))
    arguments.directory = std::exchange(arguments.report, "");
  if (arguments.report.empty()) return nullptr;
  if (auto swapped = CheckOrder(arguments); !swapped) return std::unexpected(swapped.error());
  const auto report = ChooseReport(arguments.report);
  if (!report) return report;
  if (auto used = CheckUse(**report, arguments); !used) return std::unexpected(used.error());
  return report;
}

// Selects the newest profile if no directory is named.
Result<void> TakeNewest(const reports::Report* report, ReportArguments& arguments) {
  if (!arguments.directory.empty()) return {};
  if (report != nullptr && !report->Prints(model::InputKind::kProfile) &&
      !report->Prints(model::InputKind::kCombined))
    return WrongUse("name the recording: jprof report {} DIR", report->name);
  const auto newest = NewestProfile(/*combined=*/true);
  if (!newest) return std::unexpected(newest.error());
  arguments.directory = *newest;
  return {};
}

Result<void> Run(ReportArguments arguments) {
  if (auto set = SetOptions(arguments); !set) return set;
  const auto named = TakeNamed(arguments);
  if (!named) return std::unexpected(named.error());
  if (auto taken = TakeNewest(*named, arguments); !taken) return taken;
  const model::InputKind kind = model::KindOf(arguments.directory);
  const reports::Report* report = *named;
  if (report == nullptr && kind != model::InputKind::kProfile && kind != model::InputKind::kTrace)
    report = &reports::DefaultReport(kind);
  if (report != nullptr) {
    if (auto fits = CheckKind(*report, kind, arguments); !fits) return fits;
    if (report->print == nullptr) return PrintHtmlView(arguments);
  }
  auto input = OpenFor(report, kind, arguments);
  if (!input) return std::unexpected(input.error());
  if (report == nullptr) report = &reports::DefaultReport(*input);
  if (*named == nullptr) {
    if (auto used = CheckUse(*report, arguments); !used) return used;
  }
  if (kind == model::InputKind::kCombined)
    arguments.options.merged = true;  // the sampled runs have other threads
  arguments.options.width = arguments.text.Width();
  Pager pager(arguments.options.for_people() && !arguments.text.no_pager);
  reports::Output out([&pager] { return pager.file(); }, reports::ShowsColour(stdout));
  auto printed = reports::PrintReport(*report, *input, arguments.options, out);
  if (printed) printed = out.Finish();
  if (printed && arguments.options.format == reports::Format::kCsv) PrintEventLosses(*input);
  return printed;
}

// Returns "log-rt|methods|...", for help and completion.
std::string ReportNames() {
  const auto names = reports::Reports() | std::views::transform(&reports::Report::name);
  return fmt::format("{}", fmt::join(names, "|"));
}

std::string AllFormatNames() {
  const auto name = [](reports::Format format) { return reports::EntryOf(format).name; };
  return fmt::format("{}", fmt::join(reports::kAllFormats | std::views::transform(name), "|"));
}

}  // namespace

Action ReportCommand(CommandLine line, const Command&) {
  auto arguments = std::make_shared<ReportArguments>();
  arguments->line.emplace(line);
  std::string list = "Reports:\n";
  for (const reports::Report& report : reports::Reports())
    list += fmt::format("  {:<9} {}\n", report.name, report.help);
  line.Footer(
      list +
      "\nExamples:\n"
      "  jprof report                                        the newest result here\n"
      "  jprof report app.jprof                              the report that suits this result\n"
      "  jprof report app.jprof --min-percent 5              only what takes 5 % or more, with all "
      "it calls\n"
      "  jprof report methods app.jprof                      the hottest methods\n"
      "  jprof report log-rt app.jprof                       the tree of all calls\n"
      "  jprof report log-rt --raw app.jprof                 as measured, and what was subtracted\n"
      "  jprof report arc app.itrace --top 20                functions of a trace of jprof itrace\n"
      "  jprof report arc app.itrace --listing --function work    its instructions, with counts\n"
      "  jprof report log-jlm --contexts app.jprof           locks, with who waits for whom\n"
      "  jprof report html app.jprof -o app.html             flame graph and tables for a browser\n"
      "  jprof report scs --format collapsed app.jprof       stacks for flame-graph tools\n"
      "  jprof report log-rt --format json app.jprof | jq .  for programs "
      "(docs/PROFILE_FORMAT.md)");
  reports::Options& options = arguments->options;
  line.Option(
      "report", arguments->report, ReportNames(),
      "The report (default: log-rt; scs for a sampled profile, log-jlm for one of locks, combined "
      "for a combined one)");
  line.Option("profile", arguments->directory, "PROFILE",
              "The profile's directory; the newest *.jprof here if left out");
  line.Option("--format", arguments->format, AllFormatNames(),
              "The format (default text); not every report has all");
  line.Option("--threads", arguments->threads, "separate|merged",
              "separate, or merged: all threads as one tree (default: separate, but text shows "
              "those of a thread pool as one)");
  line.Option("--sort", arguments->sort, "first|base|calls",
              "Sort siblings by base (the own value; also: samples), calls, or first (first call); "
              "default of text: the largest with all below first");
  line.Option("--min-percent", options.min_percent, "N",
              "Show what is N % of the whole or more; text shows the rest where it adds up to that")
      .Between(0.0, 100.0);
  line.Option("--depth", options.depth, "N", "Show N levels; the rest is one row");
  line.Flag("--all", options.all, "Show every row; by default text shows what fits a screen")
      .Excludes("--min-percent")
      .Excludes("--depth");
  line.Flag("--legend", options.legends, "Explain the columns below the table");
  AddTextOptions(line, arguments->text);
  line.Option("--metric", options.metric, "NAME",
              "Only this metric or event, with its number of samples");
  line.Flag("--cumulative", options.cumulative,
            "Add the inclusive value of each row to CSV and JSON; text always has it");
  line.Flag("--raw", options.raw, "Show RAW, ADJUST, SELF and ERROR side by side");
  AddArcOptions(line, options);
  AddPathOptions(line, options);
  line.Flag("--contexts", options.contexts,
            "Show who takes each lock, who waits for it, and who has it then");
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
