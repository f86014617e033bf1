// `jprof callflow|calltree|locks|objects|trace|scs`: checks the options, runs the command with the
// agent, and prints a summary.
#include "cli/shared/record_command.h"

#include <fmt/format.h>
#include <string.h>

#include <algorithm>
#include <memory>

#include "cli/shared/commands.h"
#include "cli/shared/process_id.h"
#include "cli/shared/record_options.h"
#include "cli/shared/usage_error.h"
#include "options/agent_options.h"
#include "options/hook_variable.h"
#include "record/agent/attached_recording.h"
#include "record/agent/recording_plan.h"
#include "record/agent/run_watch.h"
#include "record/itrace/traced_run.h"
#include "record/place/profile_place.h"
#include "record/place/recording_summary.h"
#include "record/run/launcher.h"

namespace jprof::cli {
namespace {

using record::Outcome;
using record::RecordingPlan;

namespace fs = std::filesystem;

// Returns the environment variable with the options for programs with hooks, or the end if it is
// not set.
auto HookOptions(const RecordingPlan& plan) {
  return std::ranges::find(plan.launch.environment, options::kHookOptionsVariable,
                           &std::pair<std::string, std::string>::first);
}
bool RecordsHooks(const RecordingPlan& plan) {
  return HookOptions(plan) != plan.launch.environment.end();
}

// Returns the processes with hooks that still run after the command has ended.
std::vector<uint32_t> LeftRunning(const RecordingPlan& plan) {
  return RecordsHooks(plan) ? record::RunningWithHooks(*HookOptions(plan))
                            : std::vector<uint32_t>();
}

}  // namespace

int ReportRun(const RecordingPlan& plan, const Outcome& outcome, record::RunWatch& watch) {
  if (outcome.signal != 0) {
    PrintError(fmt::format("{} was ended by signal {} ({})", plan.launch.arguments.front(),
                           outcome.signal, strsignal(outcome.signal)));
  }
  watch.EndSeries();
  if (watch.ProfileIsGone()) return record::StatusOfGoneProfile(plan, outcome);
  const fs::path place = plan.options.out;
  const auto settled = record::SettleProfiles(place, LeftRunning(plan));
  const auto& profiles = settled.profiles;
  for (const std::string& note : settled.notes) PrintError(note);
  watch.PrintUnprofiled(profiles);
  if (profiles.empty()) return record::StatusWithoutProfile(plan, outcome);
  constexpr int kJvmDidNotStart = 1;  // HotSpot's exit status
  if (outcome.ExitCode() == kJvmDidNotStart &&
      std::ranges::all_of(profiles, record::HasNotStarted)) {
    PrintError("no profile: the JVM did not start (the reason is above)");
    for (const record::JvmProfile& profile : profiles) record::RemoveProfile(profile.path);
    return 1;
  }
  for (const record::JvmProfile& profile : profiles) {
    if (const auto text = record::StillRunsText(profile); !text.empty()) PrintError(text);
  }
  const bool recorded = profiles.size() == 1
                            ? record::PrintSummary(profiles.front().path, plan.options)
                            : record::PrintSummaries(place, profiles, plan.options);
  const int code = outcome.ExitCode();
  return code == 0 && !recorded ? 2 : code;
}

Result<int> RecordCommand(const TypedOptions& typed, const Command& command, Companion* companion) {
  const auto plan = record::PlanRecording(typed, command);
  if (!plan) return std::unexpected(plan.error());
  for (const std::string& note : plan->notes) PrintError(note);
  // For C and C++ functions the summary at the end names the command that calibrates.
  if (const auto note = record::UncalibratedNote(typed.options.mode);
      !note.empty() && !RecordsHooks(*plan))
    PrintError(note);
  if (companion != nullptr) {
    if (auto begun = companion->Begin(*plan); !begun) return std::unexpected(begun.error());
  }
  record::RunWatch watch(*plan);
  const auto observe = [observer = watch.Observer(), companion](uint32_t pid) {
    if (companion != nullptr) companion->Observe(pid);
    if (observer) observer(pid);
  };
  const auto outcome =
      plan->traced
          ? record::RunTraced(plan->launch,
                              {.begin = "jprof_instructions_begin", .end = "", .all_threads = true})
          : record::Run(plan->launch, {}, observe);
  if (!outcome) return std::unexpected(outcome.error());
  return companion != nullptr ? companion->End(*plan, *outcome, watch)
                              : ReportRun(*plan, *outcome, watch);
}

namespace {

Result<int> CheckAndRecord(const CommandLine& line, const TypedOptions& typed,
                           const AttachArguments& attach, const Command& command) {
  const auto good = CheckAttach(line, typed, attach, command);
  if (!good) return std::unexpected(good.error());
  if (!attach.pid.empty()) {
    const auto pid = ParsePid(attach.pid, "jprof ps");
    return pid ? record::RecordRunning(*pid, attach.duration, typed) : std::unexpected(pid.error());
  }
  const auto checked = CheckCommand(line, command);
  if (!checked) return std::unexpected(checked.error());
  return RecordCommand(typed, command);
}

constexpr char kCalltreeHelp[] = R"(Examples:
  jprof calltree -- java -jar app.jar                how often everything is called, by whom
  jprof calltree --sample -- java -jar app.jar       with sampled times of the same run
  jprof calltree --pid 1234 --duration 30            a JVM that runs; `jprof ps` lists them
  jprof calltree --rotate 10m --keep 6 -- java -jar app.jar    for weeks: pieces of ten minutes
  jprof calltree -- mvn test                         all JVMs that a command starts
  jprof calltree -- ./app                            C and C++ with -finstrument-functions)";

constexpr char kCallflowHelp[] =
    R"(Measuring every call makes small methods slower than in production. Run `jprof calibrate` once on
this machine: it measures by how much, and reports subtract it. `jprof profile` gives undisturbed
times.

Examples:
  jprof callflow -- java -jar app.jar                time of every call, by caller
  jprof callflow --focus com.acme -- java -jar app.jar   only these packages; the rest at full speed
  jprof callflow --within com.acme.Server.handle --after 1000 -- java -jar app.jar
                                                     only requests, after the warm-up
  jprof callflow --time-every 16 -- java -jar app.jar    times estimated, at less cost
  jprof callflow --metrics time+PAPI_L1_DCM -- java -jar app.jar   cache misses, too
  jprof callflow --pid 1234 --duration 30            a JVM that runs, up to JDK 23
  jprof callflow -- mvn test                         all JVMs that a command starts
  jprof callflow -- ./app                            C and C++ with -finstrument-functions)";

constexpr char kLocksHelp[] = R"(Examples:
  jprof locks -- java -jar app.jar                   every lock: taken, waited for, held
  jprof locks --lite -- java -jar app.jar            without hold times, which costs less
  jprof locks --pid 1234 --duration 30               a JVM that runs; `jprof ps` lists them
  jprof locks -- ./app                               mutexes and read-write locks of C and C++
  jprof report log-jlm --contexts app.jprof          who takes each lock, who waits for whom)";

constexpr char kTraceHelp[] = R"(Examples:
  jprof trace -- java -jar app.jar                   all until 64 MiB a thread are full
  jprof trace --mode wrap -- java -jar app.jar       the last ones before the end
  jprof trace --mode continuous -- java -jar app.jar     all of them, compressed
  jprof trace --slow com.acme.Cart.total:100ms -- java -jar app.jar    slow calls only
  jprof trace --mode continuous --rotate 10m --keep 6 -- java -jar app.jar   of the last hour
  jprof trace --focus com.acme -- java -jar app.jar      only these packages
  jprof trace -- ./app                               C and C++ with -finstrument-functions)";

constexpr char kScsExamples[] = R"(
Examples:
  jprof scs -- java -jar app.jar                       where the CPU time goes
  jprof scs --pid 1234 --duration 30                   a JVM that runs; `jprof ps` lists them
  jprof scs --rate 1000 -- java -jar app.jar           finer; lowered if interrupts are slow
  jprof scs --event ALLOCATED_BYTES --objects -- java -jar app.jar   who allocates what
  jprof scs --event WALL -- java -jar app.jar          running and waiting
  jprof scs -- mvn test                                all JVMs that a command starts)";

constexpr char kObjectsHelp[] =
    R"(Every object in the heap is counted by the JVM's own allocation probe, below the method that
allocates it: no samples. Allocations that the compiler removes are none.

Examples:
  jprof objects -- java -jar app.jar                 what is allocated where: objects and bytes
  jprof objects --pid 1234 --duration 30             a JVM that runs; `jprof ps` lists them
  jprof objects --removed -- java -jar app.jar       with what compilers remove: report removed
  jprof report objects app.jprof                     by class, with the methods that allocate it
  jprof view app.jprof                               flame graph of bytes and of objects
  jprof objects --focus com.acme -- java -jar app.jar    contexts of these packages only
  jprof export --format pprof app.jprof              alloc_space and alloc_objects for pprof
  jprof objects --live exact -- java -jar app.jar    also which of them still exist
  jprof objects --live sampled --snapshots 30s -- java -jar app.jar      is there a leak?
  jprof report growth app.jprof                      the contexts whose objects grow)";

std::string ScsHelp() {
  return "Events of the JVM (--event E or E=N; the number shown is the default):\n" +
         options::TriggerHelp() + kScsExamples;
}

// Declares a command that records. `help` is its footer.
Action RecordingCommand(options::Mode mode, const std::string& help, CommandLine line,
                        const Command& command) {
  const bool attaches = mode != options::Mode::kTrace;
  line.Footer(help);
  line.AllowOthers();  // CheckAndRecord reports the first unknown argument
  auto typed = std::make_shared<TypedOptions>();
  typed->options.mode = mode;
  AddOptions(line, *typed);
  constexpr options::Mode kWithSeries[] = {options::Mode::kCallflow, options::Mode::kCalltree,
                                           options::Mode::kScs};
  if (std::ranges::count(kWithSeries, mode) != 0) {
    AddSeriesOption(line, *typed);
    AddRotateOptions(line, *typed);
  }
  auto attach = std::make_shared<AttachArguments>();
  if (attaches) AddAttachOptions(line, mode, *attach);
  return [line, typed, attach, &command] { return CheckAndRecord(line, *typed, *attach, command); };
}

}  // namespace

Action CallflowCommand(CommandLine line, const Command& command) {
  return RecordingCommand(options::Mode::kCallflow, kCallflowHelp, line, command);
}

Action CalltreeCommand(CommandLine line, const Command& command) {
  return RecordingCommand(options::Mode::kCalltree, kCalltreeHelp, line, command);
}

Action LocksCommand(CommandLine line, const Command& command) {
  return RecordingCommand(options::Mode::kLocks, kLocksHelp, line, command);
}

Action TraceCommand(CommandLine line, const Command& command) {
  return RecordingCommand(options::Mode::kTrace, kTraceHelp, line, command);
}

Action ScsCommand(CommandLine line, const Command& command) {
  return RecordingCommand(options::Mode::kScs, ScsHelp(), line, command);
}

Action ObjectsCommand(CommandLine line, const Command& command) {
  return RecordingCommand(options::Mode::kObjects, kObjectsHelp, line, command);
}

}  // namespace jprof::cli
