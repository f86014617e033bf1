// `jprof callflow|calltree|trace|scs`: checks the options, runs the command with the agent, and
// prints a summary.
#include <fmt/format.h>
#include <string.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "calibrate/train/table_store.h"
#include "cli/commands.h"
#include "cli/record_options.h"
#include "cli/usage_error.h"
#include "options/agent_options.h"
#include "ptm/cpu_sampler.h"
#include "record/installation.h"
#include "record/interrupt_cost.h"
#include "record/launcher.h"
#include "record/memory_caps.h"
#include "record/profile_place.h"
#include "record/recording_summary.h"

namespace jprof::cli {
namespace {

using record::FindAgent;
using record::FindProgram;
using record::FreePlace;
using record::InterruptNanosFor;
using record::Launch;
using record::LimitMemory;
using record::Outcome;
using record::PreparePlace;
using record::ProfileName;
using record::ProfilesAt;
using record::ReadMemory;
using record::Run;
using record::WithAgent;

namespace fs = std::filesystem;

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// The options of the agent: the command line's, then JPROFOPTS, which the agent appends itself.
Result<agent::AgentOptions> WithEnvironment(const agent::AgentOptions& options) {
  agent::AgentOptions all = options;
  agent::Checked done = agent::ApplyOptions(Environment("JPROFOPTS"), all);
  if (done) done = agent::Check(all);
  if (!done)
    return WrongUse("JPROFOPTS: {}", agent::Render(done.error(), agent::Interface::kAgentString));
  agent::Finalize(all);
  return all;
}

struct Plan {
  Launch launch;
  agent::AgentOptions options;  // out: absolute
  std::vector<std::string> notes;
};

// Checks the requested timer, and limits the rate by the cost of an interrupt.
Result<agent::AgentOptions> CheckTimers(agent::AgentOptions& typed, agent::AgentOptions all,
                                        std::vector<std::string>& notes) {
  if (all.timer == ptm::TimerSource::kPerf) {
    const ptm::ThreadTimerSettings wanted = {
        .event = ptm::CpuClock(), .period = 1'000'000'000, .source = all.timer};
    if (const auto available = ptm::CheckThreadTimer(wanted); !available)
      return WrongUse("--timer perf: {}; or use --timer posix", available.error().message);
  }
  if (all.force_rate || all.interrupt_ns != 0) return all;
  typed.interrupt_ns = InterruptNanosFor(agent::RequestedRate(all), notes);
  agent::Finalize(typed);
  auto limited = WithEnvironment(typed);
  if (limited) std::ranges::copy(limited->lowered, std::back_inserter(notes));
  return limited;
}

// Checks the memory limits, including those in JPROFOPTS. Lowers only a limit that the user did not
// set.
Result<agent::AgentOptions> CheckMemory(agent::AgentOptions& typed, agent::AgentOptions all,
                                        bool forced, std::vector<std::string>& notes) {
  const auto limited = LimitMemory(all, ReadMemory(all.out), forced, notes);
  if (!limited) return std::unexpected(limited.error());
  typed.tree_memory = all.tree_memory;
  return all;
}

// Checks everything before anything is started.
Result<Plan> Prepare(const RecordOptions& typed, const std::vector<std::string>& command) {
  if (const auto program = FindProgram(command.front()); !program)
    return std::unexpected(program.error());
  const auto library = FindAgent(typed.agent);
  if (!library) return std::unexpected(library.error());
  auto resolved = Resolve(typed);
  if (!resolved) return std::unexpected(resolved.error());
  std::string& out = resolved->options.out;
  if (out.empty()) out = FreePlace(ProfileName(command)).string();
  auto options = WithEnvironment(resolved->options);
  if (!options) return std::unexpected(options.error());

  const auto with_agent = [&](std::string_view text) {
    return WithAgent(command, *library, text, resolved->options.children,
                     Environment("JAVA_TOOL_OPTIONS"));
  };
  if (const auto runnable = with_agent(""); !runnable) return std::unexpected(runnable.error());
  options = CheckTimers(resolved->options, *std::move(options), resolved->notes);
  if (!options) return std::unexpected(options.error());
  options = CheckMemory(resolved->options, *std::move(options), typed.force, resolved->notes);
  if (!options) return std::unexpected(options.error());
  const auto place = PreparePlace(options->out, typed.force);
  if (!place) return std::unexpected(place.error());
  options->out = resolved->options.out = place->string();
  auto launch = with_agent(agent::ToString(resolved->options));
  if (!launch) return std::unexpected(launch.error());
  return Plan{*std::move(launch), *std::move(options), std::move(resolved->notes)};
}

bool AnyTable() {
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(calibrate::DataDirectory(), failed)) {
    if (entry.path().extension() == ".json") return true;
  }
  return false;
}

// Returns the exit status if there is no profile:
// - 2 if the JVM did not start: it exited with 1 before the agent created anything;
// - 2 if --children was given and the command succeeded without starting a JVM;
// - else the status of the program, which ran unprofiled.
int StatusWithoutProfile(const Plan& plan, const Outcome& outcome) {
  const bool direct = !plan.launch.java_tool_options.has_value();
  std::error_code ignored;
  if (direct && outcome.ExitCode() == 1 && !fs::exists(plan.options.out, ignored)) {
    PrintError("no profile: the JVM did not start with the agent (the reason is above)");
    return 2;
  }
  PrintError(direct ? "no profile: the program ran without being profiled (the reason is above)"
                    : "no profile: the command did not start a JVM with the agent");
  return !direct && outcome.ExitCode() == 0 ? 2 : outcome.ExitCode();
}

int PrintSummaries(const Plan& plan, const Outcome& outcome,
                   const std::vector<fs::path>& profiles_before) {
  if (outcome.signal != 0) {
    PrintError(fmt::format("{} was ended by signal {} ({})", plan.launch.arguments.front(),
                           outcome.signal, strsignal(outcome.signal)));
  }
  auto profiles = ProfilesAt(plan.options.out);
  std::erase_if(profiles, [&](const fs::path& profile) {
    return std::ranges::count(profiles_before, profile) != 0;
  });
  if (profiles.empty()) return StatusWithoutProfile(plan, outcome);
  bool recorded = false;
  for (const fs::path& profile : profiles) recorded |= record::PrintSummary(profile, plan.options);
  const int code = outcome.ExitCode();
  return code == 0 && !recorded ? 2 : code;
}

Result<int> Record(const RecordOptions& typed, const Command& command) {
  const auto plan = Prepare(typed, command);
  if (!plan) return std::unexpected(plan.error());
  for (const std::string& note : plan->notes) PrintError(note);
  if (typed.options.mode == agent::Mode::kCallflow && !AnyTable()) {
    PrintError(
        "not calibrated: times will include the profiler's overhead; run `jprof calibrate` once");
  }
  const auto before = ProfilesAt(plan->options.out);
  const auto outcome = Run(plan->launch);
  if (!outcome) return std::unexpected(outcome.error());
  return PrintSummaries(*plan, *outcome, before);
}

Result<int> CheckAndRecord(const CLI::App& sub, const RecordOptions& typed,
                           const Command& command) {
  const auto extra = sub.remaining();
  if (!extra.empty() && extra.front().starts_with('-'))
    return WrongUse("{}", UnknownArgument(sub, extra.front()));
  if (!extra.empty() || command.empty()) {
    return WrongUse("put -- before the command: jprof {} [options] -- {} ...", sub.get_name(),
                    extra.empty() ? "java" : extra.front());
  }
  return Record(typed, command);
}

constexpr char kCalltreeExamples[] = R"(

Examples:
  jprof calltree -- java -jar app.jar                  exact calls, no times
  jprof calltree --sample 1000 -- java -jar app.jar    exact calls, sampled CPU time
  jprof report log-rt DIR)";

constexpr char kScsExamples[] = R"(
Examples:
  jprof scs --rate 1000 -- java -jar app.jar           where the CPU time goes
  jprof scs --rate 5000 --duration 10 -- java ...      finer; lowered if interrupts are slow
  jprof scs --timer posix --rate 100 -- java ...       without perf events
  jprof scs --event ALLOCATED_BYTES --objects -- ...   who allocates what
  jprof scs --event TIME --event IDLE -- ...           running and waiting in one profile
  jprof report scs DIR --merged)";

std::string ScsHelp() {
  return "\n\nEvents of the JVM (--event E or E=N; the number shown is the default):\n" +
         agent::TriggerHelp() + kScsExamples;
}

// `help`: the end of the footer.
Action RecordingCommand(agent::Mode mode, const std::string& help, CLI::App& sub,
                        const Command& command) {
  sub.footer(fmt::format("Give the command after --:  jprof {} [options] -- java -jar app.jar{}",
                         sub.get_name(), help));
  sub.prefix_command();  // CheckAndRecord reports the first unknown argument
  auto typed = std::make_shared<RecordOptions>();
  typed->options.mode = mode;
  AddOptions(sub, *typed);
  return [&sub, typed, &command] { return CheckAndRecord(sub, *typed, command); };
}

}  // namespace

Action CallflowCommand(CLI::App& sub, const Command& command) {
  return RecordingCommand(agent::Mode::kCallflow, "", sub, command);
}

Action CalltreeCommand(CLI::App& sub, const Command& command) {
  return RecordingCommand(agent::Mode::kCalltree, kCalltreeExamples, sub, command);
}

Action TraceCommand(CLI::App& sub, const Command& command) {
  return RecordingCommand(agent::Mode::kTrace, "", sub, command);
}

Action ScsCommand(CLI::App& sub, const Command& command) {
  return RecordingCommand(agent::Mode::kScs, ScsHelp(), sub, command);
}

}  // namespace jprof::cli
