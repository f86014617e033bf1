// `jprof profile`: runs a program sampled and then counted, and prints one report of both.
#include <fmt/format.h>

#include <memory>

#include "calibrate/store/run_history.h"
#include "cli/commands/combined_output.h"
#include "cli/shared/choices.h"
#include "cli/shared/commands.h"
#include "cli/shared/record_options.h"
#include "cli/shared/usage_error.h"
#include "record/agent/sequence_runner.h"

namespace jprof::cli {
namespace {

constexpr uint64_t kDefaultRate = 1000;

struct ProfileArguments {
  record::SequenceRequest request;
  std::string counted = "calltree";
};

Result<int> Profile(const CommandLine& line, ProfileArguments arguments, const Command& command) {
  if (const auto checked = CheckCommand(line, command); !checked)
    return std::unexpected(checked.error());
  const auto counted = Choose("--counted", arguments.counted, {"calltree", "callflow"});
  if (!counted) return std::unexpected(counted.error());
  arguments.request.counted = *counted == 0 ? options::Mode::kCalltree : options::Mode::kCallflow;
  const auto sequence = record::PlanRuns(arguments.request, command);
  if (!sequence) return std::unexpected(sequence.error());
  for (const std::string& note : sequence->notes) PrintError(note);
  const auto note = record::UncalibratedNote(sequence->runs.back().plan.options.mode);
  if (!note.empty()) PrintError(note);
  const auto end = record::RunAll(
      *sequence,
      {.jprof = JPROF_VERSION,
       .command = command,
       .usual = calibrate::UsualSpreads(calibrate::ReadHistory(), calibrate::ProgramId(command))});
  if (!end) return std::unexpected(end.error());
  if (end->combined) {
    if (auto printed = PrintCombinedReport(sequence->out, stderr); !printed)
      return std::unexpected(printed.error());
  }
  return end->status;
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
  jprof profile --counted callflow --metrics time+PAPI_TOT_INS -- java -jar app.jar)";

}  // namespace

Action ProfileCommand(CommandLine line, const Command& command) {
  line.Footer(kHelp);
  line.AllowOthers();  // CheckCommand reports the first unknown argument
  auto arguments = std::make_shared<ProfileArguments>();
  TypedOptions& typed = arguments->request.typed;
  typed.options.rate = kDefaultRate;
  line.Option("--runs", arguments->request.runs, "N|auto",
              fmt::format("how many runs are sampled, from 1 to {} (default 2): more runs make "
                          "times more exact; auto: one run that is counted and sampled and, if "
                          "counting changes its times, 2 sampled ones",
                          record::kMostSampledRuns));
  line.Option("--counted", arguments->counted, "calltree|callflow",
              "how the last run counts: calltree (default) or callflow, which also measures "
              "times and metrics");
  AddOption(line, "-o,--out", typed);
  AddOption(line, "--rate", typed,
            fmt::format("samples per second of a thread's CPU time (default {})", kDefaultRate));
  AddOption(line, "--metrics", typed, "with --counted callflow: metrics to measure (default time)");
  AddOption(line, "--tree-memory", typed);
  AddOption(line, "--children", typed,
            "which JVMs of the command to record: no, first or all; the report is about the one "
            "that used the most CPU time (default: no for java, else all)");
  AddCommandOptions(line, typed);
  return [line, arguments, &command] { return Profile(line, *arguments, command); };
}

}  // namespace jprof::cli
