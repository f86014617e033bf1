#include "cli/report/report_arguments.h"

#include <fmt/ranges.h>

#include <ranges>

#include "cli/events/recording_info.h"
#include "cli/shared/choices.h"
#include "reports/report_list.h"

namespace jprof::cli {
namespace {

// Parses the value of --sort. Without it each report has its own order.
Result<std::optional<model::Sort>> ChooseSort(std::string_view word) {
  if (word.empty()) return std::nullopt;
  if (word == "samples") word = "base";
  const Result<size_t> sort = Choose("--sort", word, {"first", "base", "calls"});
  if (!sort) return std::unexpected(sort.error());
  return static_cast<model::Sort>(*sort);
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

// Adds the options of traces.
void AddArcOptions(CommandLine line, reports::Options& options) {
  line.Group("Of traces of jprof itrace");
  line.Option("--top", options.top, "N",
              "Only so many rows of each table, or functions of --listing")
      .Positive();
  line.Option("--function", options.function, "TEXT",
              "Only functions whose names contain this, their callers and callees");
  line.Option("--tid", options.tid, "TID", "Only the thread with this number");
  line.Option("--by", options.by, "function|site",
              "Of references to memory: by function, or by where the memory was allocated "
              "(default: both; CSV: function)")
      .OneOf({"function", "site"});
  line.Flag("--listing", options.listing,
            "Instructions of the hottest functions, with how often each was executed");
  line.Group(CommandLine::kOptions);
}

}  // namespace

Result<void> SetChoices(ReportArguments& arguments) {
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

void DeclareReportOptions(CommandLine line, ReportArguments& arguments) {
  arguments.line.emplace(line);
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
      "  jprof report lines Demo.find app.jprof              source lines of a method\n"
      "  jprof report log-rt app.jprof                       the tree of all calls\n"
      "  jprof report log-rt --raw app.jprof                 as measured, and what was subtracted\n"
      "  jprof report arc app.itrace --top 20                functions of a trace of jprof itrace\n"
      "  jprof report arc app.itrace --listing --function work    its instructions, with counts\n"
      "  jprof report log-jlm --contexts app.jprof           locks, with who waits for whom\n"
      "  jprof report distribution app.jprof                 how long single calls took\n"
      "  jprof report slow app.jprof                         slow calls, with what they called\n"
      "  jprof report html app.jprof -o app.html             flame graph and tables for a browser\n"
      "  jprof report scs --format collapsed app.jprof       stacks for flame-graph tools\n"
      "  jprof report log-rt --format json app.jprof | jq .  for programs "
      "(docs/PROFILE_FORMAT.md)");
  reports::Options& options = arguments.options;
  line.Option(
      "report", arguments.report, ReportNames(),
      "The report (default: log-rt; scs for a sampled profile, log-jlm for one of locks, combined "
      "for a combined one)");
  line.Option("profile", arguments.directory, "PROFILE",
              "The profile's directory; the newest *.jprof here if left out");
  line.Option("profile_of_method", arguments.third, "PROFILE",
              "The profile, if the report is of a method: jprof report lines METHOD PROFILE");
  line.Option("--format", arguments.format, AllFormatNames(),
              "The format (default text); not every report has all");
  line.Option("--threads", arguments.threads, "separate|merged",
              "separate, or merged: all threads as one tree (default: separate, but text shows "
              "those of a thread pool as one)");
  line.Option("--sort", arguments.sort, "first|base|calls",
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
  AddTextOptions(line, arguments.text);
  line.Option("--metric", options.metric, "NAME",
              "Only this metric or event, with its number of samples");
  line.Flag("--cumulative", options.cumulative,
            "Add the inclusive value of each row to CSV and JSON; text always has it");
  line.Flag("--raw", options.raw, "Show RAW, ADJUST, SELF and ERROR side by side");
  AddArcOptions(line, options);
  AddPathOptions(line, options);
  line.Flag("--call-sites", options.call_sites,
            "Calls from different source lines of one caller are different rows");
  line.Option("--source-path", arguments.source_path, "DIR:JAR:...",
              "Where sources are: directories, jars and zips; then the usual places");
  line.Flag("--contexts", options.contexts,
            "Show who takes each lock, who waits for it, and who has it then; of distributions, "
            "show each calling context by itself");
  line.Flag("--static-letters", options.static_letters,
            "Print lower-case type letters for static methods");
  line.Option("-o,--out", arguments.out, "FILE",
              "The file of report html (default: NAME.html; - is stdout)");
  AddWindowOption(line, arguments.table);
  AddTableOptions(line, arguments.table);
  line.Flag("--refit", arguments.refit,
            "Refit the calibration table to samples of the same program: those of the combined "
            "profile, which is the default, or of these profiles (--refit=SAMPLED,SAMPLED...); "
            "--refit=no subtracts the costs of the table as they were trained")
      .Excludes("--uncalibrated");
}

}  // namespace jprof::cli
