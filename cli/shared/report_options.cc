#include "cli/shared/report_options.h"

#include <fmt/ranges.h>

#include "cli/shared/choices.h"
#include "cli/shared/pager.h"
#include "cli/shared/usage_error.h"

namespace jprof::cli {

void AddTableOptions(CommandLine line, TableChoice& choice) {
  line.Group("Calibration, for times of callflow");
  line.Flag("--uncalibrated", choice.uncalibrated, "Do not subtract the profiler's overhead");
  line.Option("--table", choice.file, "FILE", "Correct with this calibration table")
      .Excludes("--uncalibrated");
  line.Flag("--force", choice.force, "Use --table even if it was made for another machine or JVM")
      .Needs("--table");
  line.Group(CommandLine::kOptions);
}

void AddWindowOption(CommandLine line, TableChoice& choice) {
  line.Option(
      "--window", choice.window, "FROM..TO",
      "Only what was counted then, of a profile recorded with --series: 10s..20s, 500ms..2s, "
      "1m.., ..30s or 20%..50% of the recording; ends are those of the nearest snapshots");
}

void AddWidthOption(CommandLine line, TextChoice& choice) {
  constexpr uint64_t kMost = 100'000;  // names are shorter
  line.Option("--width", choice.width, "N",
              "Lines of at most N cells of a terminal, for which names are shortened (default: the "
              "terminal's width)")
      .Between(uint64_t{1}, kMost);
}

void AddTextOptions(CommandLine line, TextChoice& choice) {
  line.Option("--names", choice.names, "full|short|jvm",
              "Names of Java methods in text: full (default; p.Type.method(String)), short "
              "(Type.method) or jvm");
  AddWidthOption(line, choice);
  line.Flag("--no-pager", choice.no_pager, "Do not show text in a pager on a terminal");
}

Result<model::NameForm> TextChoice::Form() const {
  const Result<size_t> form = Choose("--names", names, {"full", "short", "jvm"});
  if (!form) return std::unexpected(form.error());
  return static_cast<model::NameForm>(*form);
}

size_t TextChoice::Width() const { return width.value_or(TerminalWidth()); }

Result<void> CheckTextOptions(const CommandLine& line, std::string_view format) {
  if (format == "text") return {};
  for (const std::string& name : line.GivenOptions()) {
    const bool only_text = name == "--legend" || name == "--width" || name == "--no-pager";
    if (only_text || (name == "--names" && format != "markdown"))
      return WrongUse("{} is for text: leave out {} or --format {}", name, name, format);
  }
  return {};
}

Result<CountedAndSampled> OpenCountedAndSampled(const std::string& counted,
                                                const std::vector<std::string>& sampled,
                                                const TableChoice& chosen) {
  TableChoice choice = chosen;
  choice.as_trained = true;  // what is refitted is the table
  if (sampled.empty()) {
    if (model::KindOf(counted) != model::InputKind::kCombined) {
      return WrongUse(
          "{} is no combined profile: name the sampled profiles of the same program, or record one "
          "with jprof profile --counted callflow",
          counted);
    }
    auto combined = OpenNamed(counted, choice);
    if (!combined) return std::unexpected(combined.error());
    auto& runs = std::get<model::Combined>(*combined);
    return CountedAndSampled{std::move(runs.counted), std::move(runs.sampled)};
  }
  if (model::KindOf(counted) == model::InputKind::kCombined) {
    return WrongUse(
        "{} is a combined profile, which has samples of its own: leave out '{}', or give the "
        "profile of its counted run",
        counted, fmt::join(sampled, ","));
  }
  Result<model::Source> first = OpenProfile(counted, choice);
  if (!first) return std::unexpected(first.error());
  CountedAndSampled opened = {.counted = *std::move(first)};
  for (const std::string& run : sampled) {
    Result<model::Source> source = OpenProfile(run, {});
    if (!source) return std::unexpected(source.error());
    opened.sampled.push_back(*std::move(source));
  }
  return opened;
}

}  // namespace jprof::cli
