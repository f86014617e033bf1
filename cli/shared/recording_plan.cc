#include "cli/shared/recording_plan.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "a2n/hooks.h"
#include "calibrate/train/table_store.h"
#include "cli/shared/usage_error.h"
#include "options/java_program.h"
#include "ptm/cpu_sampler.h"
#include "record/place/memory_caps.h"
#include "record/place/profile_place.h"
#include "record/place/recording_summary.h"
#include "record/run/installation.h"
#include "record/run/interrupt_cost.h"

namespace jprof::cli {
namespace {

using record::FindAgent;
using record::FindProgram;
using record::FreePlace;
using record::InterruptNanosFor;
using record::LimitMemory;
using record::Outcome;
using record::PreparePlace;
using record::ReadMemory;
using record::WithAgent;

namespace fs = std::filesystem;

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// Returns the options of the agent: those of the command line, then those of JPROFOPTS, which the
// agent appends itself.
Result<options::AgentOptions> WithEnvironment(const options::AgentOptions& options) {
  options::AgentOptions all = options;
  options::Checked done = options::ApplyOptions(Environment("JPROFOPTS"), all);
  if (done) done = options::Check(all);
  if (!done)
    return WrongUse("JPROFOPTS: {}",
                    options::Render(done.error(), options::Interface::kAgentString));
  options::Finalize(all);
  return all;
}

// Checks the requested timer, and limits the rate by the cost of an interrupt.
Result<options::AgentOptions> CheckTimers(options::AgentOptions& typed, options::AgentOptions all,
                                          std::vector<std::string>& notes) {
  if (all.timer == ptm::TimerSource::kPerf) {
    const ptm::ThreadTimerSettings wanted = {
        .event = ptm::CpuClock(), .period = 1'000'000'000, .source = all.timer};
    if (const auto available = ptm::CheckThreadTimer(wanted); !available)
      return WrongUse("--timer perf: {}; or use --timer posix", available.error().message);
  }
  if (all.force_rate || all.interrupt_ns != 0) return all;
  typed.interrupt_ns = InterruptNanosFor(options::RequestedRate(all), notes);
  options::Finalize(typed);
  auto limited = WithEnvironment(typed);
  if (limited) std::ranges::copy(limited->lowered, std::back_inserter(notes));
  return limited;
}

// Checks the memory limits, including those in JPROFOPTS. Lowers only a limit that the user did not
// set.
Result<options::AgentOptions> CheckMemory(options::AgentOptions& typed, options::AgentOptions all,
                                          bool forced, std::vector<std::string>& notes) {
  const auto limited = LimitMemory(all, ReadMemory(all.out), forced, notes);
  if (!limited) return std::unexpected(limited.error());
  typed.tree_memory = all.tree_memory;
  return all;
}

// Returns where a running JVM records. A profile that --force replaces is kept until there is a new
// one, because the JVM may refuse the agent.
Result<fs::path> PlaceOf(const options::AgentOptions& options, bool force) {
  auto place = PreparePlace(options.out, false);
  if (place || !force) return place;
  return PreparePlace(fmt::format("{}.new-{}", options.out, getpid()), false);
}

// Returns whether functions of C and C++ are recorded.
bool RecordsHooks(const options::AgentOptions& options, const fs::path& program) {
  const bool calls = options.mode == options::Mode::kCallflow ||
                     options.mode == options::Mode::kCalltree ||
                     options.mode == options::Mode::kTrace;
  if (!calls || options.hooks == options::Hooks::kNo) return false;
  if (options.hooks == options::Hooks::kYes) return true;
  const a2n::Hooks hooks = a2n::HooksOf(program.string());
  if (!hooks.error.empty()) {
    PrintError(
        fmt::format("{}: cannot be read: {}; its C and C++ functions are recorded only with "
                    "--hooks=yes",
                    program.string(), hooks.error));
  }
  return hooks.Any();
}

bool AnyTable() {
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(calibrate::DataDirectory(), failed)) {
    if (entry.path().extension() == ".json") return true;
  }
  return false;
}

}  // namespace

Result<void> CheckCommand(const CLI::App& sub, const Command& command) {
  const auto extra = sub.remaining();
  if (!extra.empty() && extra.front().starts_with('-'))
    return WrongUse("{}", UnknownArgument(sub, extra.front()));
  if (!extra.empty() || command.empty()) {
    return WrongUse("put -- before the command: jprof {} [options] -- {} ...", sub.get_name(),
                    extra.empty() ? "java" : extra.front());
  }
  return {};
}

Result<RecordingPlan> PlanRecording(const RecordOptions& typed, const Command& command,
                                    bool inside) {
  const auto program = FindProgram(command.front());
  if (!program) return std::unexpected(program.error());
  const auto library = FindAgent(typed.agent);
  if (!library) return std::unexpected(library.error());
  auto resolved = Resolve(typed);
  if (!resolved) return std::unexpected(resolved.error());
  std::string& out = resolved->options.out;
  if (out.empty()) out = FreePlace(options::ProfileName(command)).string();
  const options::Children children = record::ChildrenOf(command, resolved->options.children);
  const bool environment = children != options::Children::kNo;
  const record::AgentPlace place = {.environment = environment,
                                    .tool_options = Environment("JAVA_TOOL_OPTIONS"),
                                    .hooks = RecordsHooks(resolved->options, *program),
                                    .preload = Environment("LD_PRELOAD"),
                                    .asan_options = Environment("ASAN_OPTIONS")};
  resolved->options.children = environment ? children : options::Children::kAuto;
  auto options = WithEnvironment(resolved->options);
  if (!options) return std::unexpected(options.error());

  const auto with_agent = [&](std::string_view text) {
    return WithAgent(command, *library, text, place);
  };
  if (const auto runnable = with_agent(""); !runnable) return std::unexpected(runnable.error());
  options = CheckTimers(resolved->options, *std::move(options), resolved->notes);
  if (!options) return std::unexpected(options.error());
  options = CheckMemory(resolved->options, *std::move(options), typed.force, resolved->notes);
  if (!options) return std::unexpected(options.error());
  if (!inside) {
    const auto directory = PreparePlace(options->out, typed.force);
    if (!directory) return std::unexpected(directory.error());
    options->out = resolved->options.out = directory->string();
  }
  auto launch = with_agent(options::ToString(resolved->options));
  if (!launch) return std::unexpected(launch.error());
  return RecordingPlan{*std::move(launch), *std::move(options), std::move(resolved->notes),
                       library->filename().string(), resolved->traced};
}

Result<AttachPlan> PlanAttach(const RecordOptions& typed, const std::string& name) {
  const auto library = FindAgent(typed.agent);
  if (!library) return std::unexpected(library.error());
  auto resolved = Resolve(typed);
  if (!resolved) return std::unexpected(resolved.error());
  std::string& out = resolved->options.out;
  if (out.empty()) out = FreePlace(name).string();
  auto options = WithEnvironment(resolved->options);
  if (options) options = CheckTimers(resolved->options, *std::move(options), resolved->notes);
  if (options)
    options = CheckMemory(resolved->options, *std::move(options), typed.force, resolved->notes);
  if (!options) return std::unexpected(options.error());
  const auto place = PlaceOf(*options, typed.force);
  if (!place) return std::unexpected(place.error());
  fs::path final_place = fs::absolute(options->out).lexically_normal();
  options->out = place->string();
  return AttachPlan{*library, *std::move(options), std::move(final_place),
                    std::move(resolved->notes)};
}

std::string UncalibratedNote(options::Mode mode) {
  if (mode != options::Mode::kCallflow || AnyTable()) return "";
  return "not calibrated: times will include the profiler's overhead; run `jprof calibrate` once";
}

RunWatch::RunWatch(const RecordingPlan& plan)
    : plan_(plan), jvms_(plan.agent_library), place_(plan.options.out) {}

record::ProcessObserver RunWatch::Observer() {
  return [this](uint32_t pid) {
    place_.Look();
    if (plan_.ByEnvironment()) jvms_.Look(pid);
  };
}

void RunWatch::PrintUnprofiled(const std::vector<record::JvmProfile>& profiles) const {
  const bool one_is_enough = plan_.options.children == options::Children::kFirst;
  if (one_is_enough && !profiles.empty()) return;
  for (const record::SeenJvm& jvm : jvms_.seen()) {
    const bool profiled = std::ranges::count(profiles, jvm.pid, &record::JvmProfile::pid) != 0;
    if (!profiled && !options::OnlyAsksTheVm(jvm.command)) PrintError(record::UnprofiledText(jvm));
  }
}

int StatusWithoutProfile(const RecordingPlan& plan, const Outcome& outcome) {
  const bool direct = !plan.ByEnvironment();
  std::error_code ignored;
  const bool made = fs::exists(plan.options.out, ignored);
  rmdir(plan.options.out.c_str());  // unless there is anything in it
  if (direct && outcome.ExitCode() == 1 && !made) {
    PrintError("no profile: the JVM did not start with the agent (the reason is above)");
    return 2;
  }
  if (!direct && a2n::HooksOf(plan.launch.program.string()).is_static) {
    PrintError(
        fmt::format("no profile: {} is linked statically, so that its functions cannot be "
                    "recorded; link it with shared libraries",
                    plan.launch.arguments.front()));
    return outcome.ExitCode() == 0 ? 2 : outcome.ExitCode();
  }
  // A process of the command that begins to record makes OUT.
  PrintError(direct || made
                 ? "no profile: the program ran without being profiled (the reason is above)"
                 : "no profile: the command started neither a JVM that runs a program with the "
                   "agent nor a program that calls hooks (--hooks=yes: also where only its "
                   "libraries have hooks)");
  return !direct && outcome.ExitCode() == 0 ? 2 : outcome.ExitCode();
}

int StatusOfGoneProfile(const RecordingPlan& plan, const Outcome& outcome) {
  const fs::path place = plan.options.out;
  std::error_code ignored;
  const bool later = fs::exists(fs::symlink_status(place, ignored));
  PrintError(fmt::format(
      "no profile: its directory {} was removed or renamed while the program ran{}; record into "
      "one that the program leaves alone (-o)",
      record::DisplayPath(place), later ? ", and what is there now was made later" : ""));
  return outcome.ExitCode() == 0 ? 1 : outcome.ExitCode();
}

}  // namespace jprof::cli
