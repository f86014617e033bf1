// `jprof profile`: runs a program sampled and then counted, and prints one report of both.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/store/run_history.h"
#include "cli/commands/combined_output.h"
#include "cli/gate/gate.h"
#include "cli/gate/saved.h"
#include "cli/shared/choices.h"
#include "cli/shared/commands.h"
#include "cli/shared/profile_source.h"
#include "cli/shared/record_options.h"
#include "cli/shared/usage_error.h"
#include "record/agent/sequence_runner.h"
#include "record/place/recording_summary.h"

namespace jprof::cli {
namespace {

constexpr char kComparedRuns[] = "3";  // by default; two would not show most calls that vary

struct ProfileArguments {
  record::SequenceRequest request;
  std::string counted = "calltree";
  std::string save, baseline;
  GateChoice gate;
};

// What a recording is compared with, opened before it begins.
struct Baseline {
  model::Input input;
  std::vector<reports::Condition> conditions;
};

Result<std::optional<Baseline>> OpenBaseline(const ProfileArguments& arguments) {
  if (arguments.baseline.empty()) {
    if (!arguments.gate.IsGiven()) return std::nullopt;
    return WrongUse(
        "--fail-if, --junit and --summary need --baseline NAME, which they compare with");
  }
  auto conditions = arguments.gate.Conditions();
  if (!conditions) return std::unexpected(conditions.error());
  const auto place = SavedProfile(arguments.baseline);
  if (!place) return std::unexpected(place.error());
  auto input = OpenNamed(*place, {});
  if (!input) return std::unexpected(input.error());
  return Baseline{*std::move(input), *std::move(conditions)};
}

// Returns the exit status of the gate. The profile was recorded in `directory`.
Result<int> Compare(Baseline& baseline, const std::string& directory, const GateChoice& choice) {
  auto now = OpenNamed(directory, {});
  if (!now) return std::unexpected(now.error());
  return CompareByConditions(baseline.input, *now, baseline.conditions, choice, {.stream = stderr});
}

// Makes the runs those of a profile that is compared with others, and that is saved.
Result<void> PrepareCompared(const CommandLine& line, ProfileArguments& arguments) {
  const bool is_saved = line.IsGiven("--save");
  if (!is_saved && arguments.baseline.empty()) return {};
  arguments.request.recounts = true;
  if (!line.IsGiven("--runs")) arguments.request.runs = kComparedRuns;
  if (!is_saved) return {};
  const auto place = PrepareSave(arguments.save);
  if (!place) return std::unexpected(place.error());
  arguments.request.typed.options.out = *place;
  arguments.request.typed.force = true;
  return {};
}

// Returns where the profile was saved. Fails if a run failed; the profile is then not saved.
Result<std::filesystem::path> SaveRuns(const std::string& name, const std::filesystem::path& out,
                                       const record::SequenceEnd& end) {
  if (!end.combined || end.status != 0) {
    return Fail("nothing is saved as {}: the program {}; what was recorded is {}", name,
                end.combined ? fmt::format("ended with {}", end.status)
                             : "was not both sampled and counted",
                record::DisplayPath(out));
  }
  auto place = Save(name);
  if (place) PrintError(fmt::format("saved as {} ({})", name, record::DisplayPath(*place)));
  return place;
}

// Reports what was recorded, saves or compares it, and returns the exit status.
Result<int> Finish(const ProfileArguments& arguments, std::filesystem::path place,
                   const record::SequenceEnd& end, std::optional<Baseline>& baseline) {
  if (!arguments.save.empty()) {
    const auto saved = SaveRuns(arguments.save, place, end);
    if (!saved) PrintError(saved.error().message);
    if (!saved) return end.status != 0 ? end.status : 1;
    place = *saved;
  }
  if (end.combined) {
    if (auto printed = PrintCombinedReport(place, stderr); !printed)
      return std::unexpected(printed.error());
  }
  if (!baseline) return end.status;
  if (end.combined && end.status == 0) return Compare(*baseline, place, arguments.gate);
  PrintError(fmt::format("not compared with {}: the program failed", arguments.baseline));
  return end.status != 0 ? end.status : 1;
}

Result<int> Profile(const CommandLine& line, ProfileArguments arguments, const Command& command) {
  if (const auto checked = CheckCommand(line, command); !checked)
    return std::unexpected(checked.error());
  const auto counted = Choose("--counted", arguments.counted, {"calltree", "callflow"});
  if (!counted) return std::unexpected(counted.error());
  arguments.request.counted = *counted == 0 ? options::Mode::kCalltree : options::Mode::kCallflow;
  auto baseline = OpenBaseline(arguments);
  if (!baseline) return std::unexpected(baseline.error());
  if (auto prepared = PrepareCompared(line, arguments); !prepared)
    return std::unexpected(prepared.error());
  const auto sequence = record::PlanRuns(arguments.request, command);
  if (!sequence) return std::unexpected(sequence.error());
  for (const std::string& note : sequence->notes) PrintError(note);
  const auto note = record::UncalibratedNote(sequence->runs.back().plan.options.mode);
  if (!note.empty()) PrintError(note);
  record::ProgramRuns program;
  const auto end = record::RunAll(
      *sequence,
      {.jprof = JPROF_VERSION,
       .command = command,
       .usual = calibrate::UsualSpreads(calibrate::ReadHistory(), calibrate::ProgramId(command))},
      program);
  if (!end) return std::unexpected(end.error());
  return Finish(arguments, sequence->out, *end, *baseline);
}

constexpr char kHelp[] =
    R"(The program runs several times: first unmodified, to sample where its time goes, and once more to
count its calls. Each run gets the same input and prints its output as always. The exit status is
that of the first run. A program that cannot run again: `jprof scs`, `jprof calltree`, and then
`jprof combine`.

Examples:
  jprof profile -- java -jar app.jar                   2 runs for the times, 1 for the calls
  jprof profile -- mvn test                            the busiest JVM that a command starts
  jprof profile --runs 5 -- java -jar app.jar          more exact times
  jprof profile --runs auto -- java -jar app.jar       one run, if that is exact enough
  jprof profile --counted callflow --metrics time+PAPI_TOT_INS -- java -jar app.jar
  jprof profile --save main -- java -jar app.jar       kept as main, to compare with
  jprof profile --baseline main --fail-if 'calls > 0%' --fail-if 'time > 3%' -- java -jar app.jar
                                                       exits with 1 if it calls more or is slower)";

}  // namespace

Action ProfileCommand(CommandLine line, const Command& command) {
  line.Footer(kHelp);
  line.AllowOthers();  // CheckCommand reports the first unknown argument
  auto arguments = std::make_shared<ProfileArguments>();
  TypedOptions& typed = arguments->request.typed;
  line.Option("--runs", arguments->request.runs, "N|auto",
              fmt::format("how many runs are sampled, from 1 to {} (default 2): more runs make "
                          "times more exact; auto: one run that is counted and sampled and, if "
                          "counting changes its times, 2 sampled ones. With --save and --baseline "
                          "also how many are counted (default {}), to know which calls vary",
                          record::kMostSampledRuns, kComparedRuns));
  line.Option("--counted", arguments->counted, "calltree|callflow",
              "how the last run counts: calltree (default) or callflow, which also measures "
              "times and metrics");
  AddOption(line, "-o,--out", typed);
  line.Option("--save", arguments->save, "NAME",
              "keep the profile under this name, for --baseline and `jprof compare`; a name with a "
              "/ is a path")
      .Excludes("--out");
  line.Option(
          "--baseline", arguments->baseline, "NAME",
          fmt::format("compare with the profile that was saved under this name, and exit with 1 "
                      "if a condition is violated (default: '{}')",
                      kDefaultCondition))
      .Excludes("--save");
  AddGateOptions(line, arguments->gate);
  AddOption(line, "--metrics", typed, "with --counted callflow: metrics to measure (default time)");
  AddSeriesOption(line, typed);
  AddOptionsOfRuns(line, typed);
  return [line, arguments, &command] { return Profile(line, *arguments, command); };
}

}  // namespace jprof::cli
