// `jprof info DIR`: prints what a profile contains, on one screen.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <optional>
#include <string>

#include "cli/commands/info_output.h"
#include "cli/commands/profile_info.h"
#include "cli/commands/trace_report.h"
#include "cli/events/recording_info.h"
#include "cli/fleet/fetched.h"
#include "cli/scale/scale_info.h"
#include "cli/shared/commands.h"
#include "cli/shared/profile_source.h"
#include "cli/shared/report_options.h"
#include "cli/shared/usage_error.h"
#include "common/shell_word.h"
#include "profile/files/printable_text.h"
#include "profile/read/combined.h"
#include "reports/print/json_writer.h"
#include "reports/print/output.h"
#include "reports/quality/explain.h"
#include "reports/quality/quality_of.h"

namespace jprof::cli {
namespace {

// Prints a combined profile: its runs, each with a profile to look at.
void PrintRuns(const std::string& directory, const profile::CombinedMeta& meta,
               reports::Output& out) {
  const auto line = [&](std::string_view name, std::string_view value) {
    if (!value.empty()) out.Print("{:<12} {}\n", name, profile::CleanText(value));
  };
  line("profile", directory + " (combined)");
  line("command", fmt::format("{}", fmt::join(meta.command, " ")));
  line("made",
       meta.from.empty() ? meta.start : fmt::format("{} by jprof {}", meta.start, meta.from));
  for (const std::string& note : meta.notes) line("note", note);
  for (const profile::Run& run : meta.runs) {
    std::string text = fmt::format("{}/{}", directory, run.profile);
    if (run.wall_seconds) text += fmt::format(", {:.3f} s", *run.wall_seconds);
    if (run.cpu_seconds) text += fmt::format(", {:.3f} s CPU", *run.cpu_seconds);
    if (run.exit_status) text += fmt::format(", exit status {}", *run.exit_status);
    line(run.role == profile::Run::Role::kCounted ? "counted" : "sampled", text);
  }
  out.Print("Its report: jprof report {}; jprof info describes each of these profiles.\n",
            ShellWord(profile::CleanText(directory)));
}

void PrintRunsJson(const std::string& directory, const profile::CombinedMeta& meta,
                   reports::Output& out) {
  reports::JsonWriter json(out);
  json.StartObject();
  json.Member("profile", directory);
  json.Member("mode", "combined");
  json.Member("jprof", meta.jprof);
  json.StringsMember("command", meta.command);
  json.Member("start", meta.start);
  json.Member("from", meta.from);
  json.StringsMember("notes", meta.notes);
  json.Key("runs");
  json.StartArray();
  for (const profile::Run& run : meta.runs) {
    json.StartRow();
    json.Member("role", run.role == profile::Run::Role::kCounted ? "counted" : "sampled");
    json.Member("profile", fmt::format("{}/{}", directory, run.profile));
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  json.Finish();
}

Result<void> DescribeCombined(const std::string& directory, bool json) {
  const auto meta = profile::ReadCombined(directory);
  if (!meta) return std::unexpected(meta.error());
  reports::Output out(stdout);
  json ? PrintRunsJson(directory, *meta, out) : PrintRuns(directory, *meta, out);
  return out.Finish();
}

Result<void> Run(const std::string& directory, bool json) {
  const model::InputKind kind = model::KindOf(directory);
  if (kind == model::InputKind::kCombined) return DescribeCombined(directory, json);
  if (kind == model::InputKind::kScale) return DescribeScale(directory, json);
  if (kind == model::InputKind::kTrace) return DescribeTrace(directory, json);
  if (kind == model::InputKind::kEvents) return DescribeEvents(directory, json);
  const auto info = ReadProfileInfo(BusiestIn(directory));
  if (!info) return std::unexpected(info.error());
  reports::Output out(stdout);
  json ? PrintInfoJson(*info, out) : PrintInfoText(*info, out);
  return out.Finish();
}

struct InfoArguments {
  std::string directory;
  std::string format = "text";
  bool quality = false;
  TableChoice table;
  TextChoice text;
  std::optional<CommandLine> line;  // knows which options are given
};

Result<void> Explain(const std::string& directory, const TableChoice& table, bool json,
                     size_t width) {
  auto input = OpenNamed(directory, table);
  const auto quality = reports::LoadQuality(input, directory, table);
  if (!quality) return std::unexpected(quality.error());
  reports::Output out(stdout, reports::ShowsColour(stdout));
  const std::string_view of = input ? model::ShownNameOf(*input) : directory;
  json ? reports::ExplainJson(of, *quality, out) : reports::ExplainText(of, *quality, width, out);
  return out.Finish();
}

Result<void> Info(InfoArguments& arguments) {
  if (auto fetched = FetchIfUrl(arguments.directory); !fetched) return fetched;
  const auto& [directory, format, quality, table, text, line] = arguments;
  const bool json = format == "json";
  if (auto fits = CheckTextOptions(*line, format); !fits) return fits;
  if (quality) return Explain(directory, table, json, text.Width());
  if (table.uncalibrated || !table.file.empty() || text.width)
    return WrongUse("--table, --uncalibrated and --width are options of --quality");
  return Run(directory, json);
}

}  // namespace

Action InfoCommand(CommandLine line, const Command&) {
  auto arguments = std::make_shared<InfoArguments>();
  arguments->line.emplace(line);
  line.Footer(
      "Examples:\n"
      "  jprof info app.jprof                       what was recorded, and what was lost\n"
      "  jprof info --quality app.jprof             how far its numbers can be trusted\n"
      "  jprof info app.jprof --format json         for programs");
  line.Option(
          "DIR", arguments->directory, "PROFILE",
          "a profile, a combined one, a recording of jprof timeline, or a trace of jprof itrace; "
          "with --quality also a recording of jprof tprof")
      .Required();
  line.Option("--format", arguments->format, "text|json", "text (default) or json")
      .OneOf({"text", "json"});
  line.Flag("--quality", arguments->quality,
            "how far the numbers can be trusted: each fact, what it means, what to do about it");
  AddWidthOption(line, arguments->text);
  AddTableOptions(line, arguments->table);
  return [arguments] { return StatusOf(Info(*arguments)); };
}

}  // namespace jprof::cli
