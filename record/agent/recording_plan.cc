#include "record/agent/recording_plan.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "a2n/hooks.h"
#include "calibrate/store/table_store.h"
#include "options/java_program.h"
#include "options/tool_options.h"
#include "ptm/cpu_sampler.h"
#include "record/place/memory_caps.h"
#include "record/place/place_claim.h"
#include "record/place/profile_place.h"
#include "record/run/installation.h"
#include "record/run/interrupt_cost.h"
#include "record/run/print_error.h"
#include "record/series/series_recorder.h"

namespace jprof::record {
namespace {

namespace fs = std::filesystem;

constexpr char kOptionsVariable[] = "JPROFOPTS";

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// Returns the options of a recording. `name` is the default name of the profile.
Result<ResolvedOptions> OptionsOf(const TypedOptions& typed, const std::string& name) {
  auto resolved = Resolve(typed, Environment(kOptionsVariable));
  if (resolved && resolved->options.out.empty()) resolved->options.out = FreePlace(name).string();
  return resolved;
}

// Checks the requested timer, and limits the rates of timers by the cost of an interrupt.
Result<void> LimitTimers(options::AgentOptions& options, std::vector<std::string>& notes) {
  if (options.timer == ptm::TimerSource::kPerf) {
    const ptm::ThreadTimerSettings wanted = {
        .event = ptm::CpuClock(), .period = 1'000'000'000, .source = options.timer};
    if (const auto available = ptm::CheckThreadTimer(wanted); !available)
      return WrongUse("--timer perf: {}; or use --timer posix", available.error().message);
  }
  if (options.force_rate || options.interrupt_ns != 0) return {};
  options.interrupt_ns = InterruptNanosFor(options::RequestedRate(options), notes);
  options::Finalize(options);
  std::ranges::copy(options.lowered, std::back_inserter(notes));
  return {};
}

// Limits what the recording takes of the machine: interrupts and memory.
Result<void> Limit(ResolvedOptions& resolved, bool forced) {
  options::AgentOptions& options = resolved.options;
  if (auto limited = LimitTimers(options, resolved.notes); !limited) return limited;
  return LimitMemory(options, ReadMemory(options.out), forced, resolved.notes);
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

// Returns whether the locks of a program without a JVM are counted: one that takes some itself, or
// whose JVMs, if it starts any, are not recorded.
bool CountsNativeLocks(const options::AgentOptions& options, const fs::path& program) {
  if (options.mode != options::Mode::kLocks || StartsJvm(program)) return false;
  const a2n::Hooks hooks = a2n::HooksOf(program.string());
  return options.children == options::Children::kNo ||
         (options.children == options::Children::kAuto && hooks.locks && !hooks.is_static);
}

// Returns what is to be made of snapshots.
Result<SnapshotOptions> SnapshotsOf(const TypedOptions& typed) {
  SnapshotOptions snapshots = {.keep = typed.keep};
  if (typed.series) {
    const auto interval = ParseSeries(*typed.series);
    if (!interval) return std::unexpected(interval.error());
    snapshots.series_ns = *interval;
  }
  if (!typed.rotate) return snapshots;
  const auto length = ParseRotate(*typed.rotate);
  if (!length) return std::unexpected(length.error());
  snapshots.rotate_ns = *length;
  return snapshots;
}

// Fails if snapshots cannot be taken of such a recording.
Result<void> CheckSnapshots(const SnapshotOptions& snapshots, const ResolvedOptions& resolved) {
  if (snapshots.Any() && resolved.traced) {
    return WrongUse(
        "{} is not for metrics that are counted by tracing the program (--metrics); leave out one "
        "of the two",
        FlagOf(snapshots));
  }
  const options::AgentOptions& options = resolved.options;
  if (snapshots.rotate_ns == 0 || options.mode != options::Mode::kCalltree ||
      options.triggers.empty())
    return {};
  return WrongUse(
      "--rotate is not for --sample: profiles with counts and samples in one tree cannot be "
      "merged; leave out --sample, or record samples with jprof scs");
}

bool AnyTable() {
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(calibrate::DataDirectory(), failed)) {
    if (entry.path().extension() == ".json") return true;
  }
  return false;
}

}  // namespace

Result<RecordingPlan> PlanRecording(const TypedOptions& typed,
                                    const std::vector<std::string>& command, bool inside) {
  const auto snapshots = SnapshotsOf(typed);
  if (!snapshots) return std::unexpected(snapshots.error());
  const auto program = FindProgram(command.front());
  if (!program) return std::unexpected(program.error());
  const auto library = FindAgent(typed.agent);
  if (!library) return std::unexpected(library.error());
  auto resolved = OptionsOf(typed, options::ProfileName(command));
  if (!resolved) return std::unexpected(resolved.error());
  if (const auto good = CheckSnapshots(*snapshots, *resolved); !good)
    return std::unexpected(good.error());
  options::AgentOptions& options = resolved->options;
  const bool locks = CountsNativeLocks(options, *program);
  const options::Children children =
      locks ? options::Children::kNo : ChildrenOf(command, options.children);
  const bool environment = children != options::Children::kNo;
  options.children = environment ? children : options::Children::kAuto;
  const AgentPlace place = {.environment = environment,
                            .tool_options = Environment("JAVA_TOOL_OPTIONS"),
                            .hooks = locks || RecordsHooks(options, *program),
                            .locks = locks,
                            .preload = Environment("LD_PRELOAD"),
                            .asan_options = Environment("ASAN_OPTIONS")};
  const auto with_agent = [&](std::string_view text) {
    return WithAgent(command, *library, text, place);
  };
  if (locks && !fs::exists(library->parent_path() / options::kLocksLibrary)) {
    return Fail("{} is missing beside {}: install jprof again", options::kLocksLibrary,
                library->string());
  }
  if (const auto runnable = with_agent(""); !runnable) return std::unexpected(runnable.error());
  if (const auto limited = Limit(*resolved, typed.force); !limited)
    return std::unexpected(limited.error());
  if (!inside) {
    const auto directory = PrepareUnclaimed(options.out, typed.force);
    if (!directory) return std::unexpected(directory.error());
    options.out = directory->string();
  }
  auto launch = with_agent(options::ToString(options));
  if (!launch) return std::unexpected(launch.error());
  if (!Environment(kOptionsVariable).empty())
    launch->environment.emplace_back(kOptionsVariable, "");
  return RecordingPlan{*std::move(launch),           std::move(options), std::move(resolved->notes),
                       library->filename().string(), resolved->traced,   *snapshots};
}

Result<AttachPlan> PlanAttach(const TypedOptions& typed, const std::string& name) {
  const auto snapshots = SnapshotsOf(typed);
  if (!snapshots) return std::unexpected(snapshots.error());
  const auto library = FindAgent(typed.agent);
  if (!library) return std::unexpected(library.error());
  auto resolved = OptionsOf(typed, name);
  if (!resolved) return std::unexpected(resolved.error());
  if (const auto good = CheckSnapshots(*snapshots, *resolved); !good)
    return std::unexpected(good.error());
  if (const auto limited = Limit(*resolved, typed.force); !limited)
    return std::unexpected(limited.error());
  options::AgentOptions& options = resolved->options;
  const auto place = PlaceOf(options, typed.force);
  if (!place) return std::unexpected(place.error());
  fs::path final_place = fs::absolute(options.out).lexically_normal();
  options.out = place->string();
  return AttachPlan{*library, std::move(options), std::move(final_place),
                    std::move(resolved->notes), *snapshots};
}

std::string UncalibratedNote(options::Mode mode) {
  if (mode != options::Mode::kCallflow || AnyTable()) return "";
  return "not calibrated: times will include the profiler's overhead; run `jprof calibrate` once";
}

}  // namespace jprof::record
