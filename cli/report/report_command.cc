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

#include "cli/events/recording_info.h"
#include "cli/fleet/fetched.h"
#include "cli/report/report_arguments.h"
#include "cli/shared/choices.h"
#include "cli/shared/commands.h"
#include "cli/shared/pager.h"
#include "cli/shared/profile_source.h"
#include "cli/shared/report_options.h"
#include "cli/shared/usage_error.h"
#include "cli/shared/view_output.h"
#include "common/shell_word.h"
#include "model/combined/refit.h"
#include "reports/lines/source_files.h"
#include "reports/report_list.h"
#include "reports/ticks/tprof.h"

namespace jprof::cli {
namespace {

namespace fs = std::filesystem;

// Returns the report of that name.
Result<const reports::Report*> ChooseReport(std::string_view name) {
  std::vector<std::string_view> names;
  for (const reports::Report& report : reports::Reports()) names.push_back(report.name);
  const Result<size_t> report = Choose("report", name, names);
  if (!report) return std::unexpected(report.error());
  return &reports::Reports()[*report];
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

// Opens the counted run of a combined profile, refitted to the sampled runs, for log-rt with the
// production times of its contexts.
Result<model::Source> OpenCounted(const ReportArguments& arguments) {
  auto input = OpenNamed(arguments.directory, arguments.table);
  if (arguments.report != "log-rt") {
    if (!input) return OpenCountedAlone(arguments);
    return std::move(std::get<model::Combined>(*input).counted);
  }
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
constexpr std::string_view kNoRefit = "no";

// Opens the profile, and refits its table to the samples that are named.
Result<model::Source> OpenReported(model::InputKind kind, const ReportArguments& arguments) {
  if (arguments.refit.empty() || arguments.refit == kNoRefit) {
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
  const bool of_counted = kind == kCombined && !is_open && !report->Prints(kCombined);
  if ((is_open || report->Prints(kProfile)) && (kind == kProfile || of_counted)) {
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

// Takes the method and the profile of a report of a method, each of which may be left out.
Result<void> TakeMethod(const reports::Report& report, ReportArguments& arguments) {
  std::error_code error;
  if (!report.is_of_method) {
    if (arguments.third.empty()) return {};
    return WrongUse("report {} prints one profile, not {} and {}", report.name,
                    profile::CleanText(arguments.directory), profile::CleanText(arguments.third));
  }
  const bool is_profile =
      fs::is_directory(arguments.directory, error) || arguments.directory.ends_with(".jprof");
  if (!arguments.third.empty() || !is_profile) {
    arguments.options.method =
        std::exchange(arguments.directory, std::exchange(arguments.third, ""));
  }
  if (arguments.source_path.empty()) return {};
  auto path = reports::ParseSourcePath(arguments.source_path);
  if (!path) return std::unexpected(path.error());
  arguments.options.source_path = *std::move(path);
  return {};
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
  if (auto taken = TakeMethod(**report, arguments); !taken) return std::unexpected(taken.error());
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
  if (auto set = SetChoices(arguments); !set) return set;
  arguments.table.as_trained = arguments.refit == kNoRefit;
  auto fetched = FetchIfUrl({&arguments.report, &arguments.directory, &arguments.third});
  if (!fetched) return fetched;
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

}  // namespace

Action ReportCommand(CommandLine line, const Command& command) {
  auto arguments = std::make_shared<ReportArguments>();
  DeclareReportOptions(line, *arguments);
  return [arguments, &command] {
    if (!command.empty())
      return StatusOf(WrongUse("report runs no command: leave out -- and what follows it"));
    return StatusOf(Run(*arguments));
  };
}

}  // namespace jprof::cli
