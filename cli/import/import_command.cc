// `jprof import`: makes profiles of what other profilers have recorded.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "cli/shared/commands.h"
#include "cli/shared/profile_source.h"
#include "cli/shared/usage_error.h"
#include "common/shell_word.h"
#include "profile/files/printable_text.h"
#include "profile/import/importer.h"
#include "profile/import/periods.h"
#include "profile/read/reading_memory.h"
#include "record/place/profile_place.h"
#include "record/place/recording_summary.h"

namespace jprof::cli {
namespace {

namespace fs = std::filesystem;
using profile::CleanText;

struct ImportArguments {
  std::vector<std::string> files;
  std::string out, format, event, period, unit;
  bool force = false;
};

constexpr char kStandardInput[] = "-";

Result<profile::ImportOptions> OptionsOf(const ImportArguments& arguments) {
  profile::ImportOptions options = {.event = arguments.event, .unit = arguments.unit};
  if (arguments.period.empty()) return options;
  options.period_ns = profile::ParseSpan(arguments.period);
  if (options.period_ns == 0) {
    return WrongUse("--period {}: a time from 1ns to 3600s is required, such as 10ms",
                    arguments.period);
  }
  return options;
}

// Returns "app" for a file "/tmp/app.jfr.gz".
std::string StemOf(const std::string& file) {
  if (file == kStandardInput) return "imported";
  fs::path name = fs::path(file).filename();
  while (name.has_extension() && name.stem() != name) name = name.stem();
  return name.empty() ? "imported" : name.string();
}

std::string ShownFile(const std::string& file) {
  return file == kStandardInput ? "standard input" : file;
}

void PrintOutcome(const profile::SampleTree& tree, const profile::ForeignRun& run,
                  const std::string& out) {
  const profile::Imported& imported = run.imported;
  const size_t threads = tree.threads().size();
  PrintError(fmt::format("{}: {} samples{} of {} {}", CleanText(imported.file), tree.samples(),
                         imported.event.empty() ? "" : " " + CleanText(imported.event), threads,
                         threads == 1 ? "thread" : "threads"));
  if (tree.cut() > 0) {
    PrintError(fmt::format("{} stacks are cut: their outer frames were not recorded", tree.cut()));
  }
  for (const std::string& note : imported.notes) PrintError(CleanText(note));
  PrintError("profile: " + record::DisplayPath(out));
  PrintNext("jprof report " + record::DisplayPath(out));
}

Result<void> ImportFile(const std::string& file, const ImportArguments& arguments,
                        profile::ImportOptions options) {
  const fs::path place =
      arguments.out.empty() ? record::FreePlace(StemOf(file)) : fs::path(arguments.out);
  if (auto can = record::CheckPlace(place, arguments.force); !can) return can;
  const uint64_t memory = profile::ReadingMemory();
  const auto bytes = profile::ReadForeignFile(file, memory);
  if (!bytes) return std::unexpected(bytes.error());
  // What the content leaves is for the tables of the file and for the tree.
  options.memory = (memory - std::min(memory, uint64_t{bytes->size()})) / 2;
  const std::string shown = ShownFile(file);
  const auto format = profile::ChooseFormat(arguments.format, *bytes, shown);
  if (!format) return std::unexpected(format.error());
  profile::SampleTree tree(options.memory);
  auto run = profile::ReadForeign(**format, *bytes, shown, options, tree);
  if (!run) return std::unexpected(run.error());
  run->meta.jprof = JPROF_VERSION;
  const auto out = record::PreparePlace(place, arguments.force);
  if (!out) return std::unexpected(out.error());
  auto written = profile::WriteSampled(tree, *run, out->string());
  if (written) PrintOutcome(tree, *run, out->string());
  return written;
}

// Returns the exit status. A file that cannot be imported does not keep the others from it.
Result<int> Import(const ImportArguments& arguments) {
  const auto options = OptionsOf(arguments);
  if (!options) return std::unexpected(options.error());
  if (arguments.files.size() > 1 && !arguments.out.empty()) {
    return WrongUse(
        "-o {}: each of the {} files becomes a profile of its own; import them one by "
        "one, or leave out -o and add the profiles up: jprof merge",
        arguments.out, arguments.files.size());
  }
  int status = 0;
  for (const std::string& file : arguments.files)
    status = std::max(status, ExitStatusOf(StatusOf(ImportFile(file, arguments, *options))));
  return status;
}

std::string FormatsHelp() {
  std::string text = "The format, which is otherwise recognised from the content:";
  for (const profile::ForeignFormat& format : profile::ForeignFormats())
    text += fmt::format("{} {} ({})", text.ends_with(':') ? "" : ",", format.name, format.help);
  return text;
}

constexpr char kImportHelp[] =
    R"(Makes a sampled profile, as jprof scs does, of a file with samples that another profiler has
taken, for example in production. All commands read it; jprof combine joins it with the exact counts
of a run of the same program. Files may be compressed by gzip. What the file does not say is missing
in the profile, and jprof info names it (docs/IMPORT.md).

Examples:
  jprof import app.jfr                              a recording of JDK Flight Recorder
  jprof import app.jfr --event jdk.NativeMethodSample
  jprof combine counted.jprof app.jprof -o both.jprof     with the counts of jprof calltree
  perf script -F comm,pid,tid,time,period,event,ip,sym,dso | jprof import - -o app.jprof
  jprof import app.pb.gz                            a profile of pprof
  jprof import app.collapsed --period 10ms          each sample is 10 ms of CPU time)";

}  // namespace

Action ImportCommand(CommandLine line, const Command&) {
  line.Footer(kImportHelp);
  auto arguments = std::make_shared<ImportArguments>();
  line.Option("FILES", arguments->files, "FILE", "The files, or - for standard input").Required();
  line.Option("-o,--out", arguments->out, "DIR",
              "The directory of the profile (default: the file's name with .jprof, in the working "
              "directory)");
  std::vector<std::string_view> names;
  for (const profile::ForeignFormat& format : profile::ForeignFormats())
    names.push_back(format.name);
  line.Option("--format", arguments->format, fmt::format("{}", fmt::join(names, "|")),
              FormatsHelp());
  line.Option("--event", arguments->event, "NAME",
              "Which samples of the file to import: an event of JFR or perf, a sample type of "
              "pprof");
  line.Option("--period", arguments->period, "TIME",
              "The CPU time that one sample stands for, such as 10ms, if the file does not say it");
  line.Option("--unit", arguments->unit, "samples|ns|us|ms",
              "What the numbers of collapsed stacks are (default samples); times are divided by "
              "--period");
  line.Flag("--force", arguments->force, "Replace an existing profile");
  return [arguments] { return Import(*arguments); };
}

}  // namespace jprof::cli
