// `jprof timeline` and `jprof system-trace`: record which thread ran on which processor when, until
// when, and why it stopped.
#include <fmt/ranges.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <optional>

#include "cli/shared/choices.h"
#include "cli/shared/commands.h"
#include "cli/shared/process_id.h"
#include "cli/shared/record_command.h"
#include "cli/shared/record_options.h"
#include "cli/shared/usage_error.h"
#include "common/procfs.h"
#include "options/java_program.h"
#include "profile/files/meta.h"
#include "ptm/names/event_name.h"
#include "record/agent/attached_recording.h"
#include "record/attach/attach_target.h"
#include "record/attach/jvm.h"
#include "record/kernel/event_folder.h"
#include "record/place/place_claim.h"
#include "record/place/profile_place.h"
#include "record/run/installation.h"
#include "record/run/interruption.h"
#include "record/run/no_process.h"

namespace jprof::cli {
namespace {

namespace fs = std::filesystem;

// Selects what is measured in every call. Time without interrupts is computed from the time and the
// kernel's events.
void UseMetrics(record::TypedOptions& typed) {
  if (typed.metrics.empty()) return;
  typed.options.mode = options::Mode::kCallflow;
  std::vector<std::string> names = ptm::SplitNames(typed.metrics);
  const auto removed = std::ranges::remove(names, std::string_view(profile::kNoInterrupts));
  const bool wanted = !removed.empty();
  names.erase(removed.begin(), removed.end());
  if (wanted && std::ranges::find(names, "time") == names.end())
    names.insert(names.begin(), "time");
  typed.metrics = fmt::format("{}", fmt::join(names, "+"));
}

struct TimelineArguments {
  record::TypedOptions typed;
  AttachArguments attach;
  record::KernelEventsOptions kernel;
  std::vector<std::string> counted;
};

// Selects what is counted in each stretch.
Result<void> UseCounters(TimelineArguments& arguments) {
  if (arguments.counted.empty()) return {};
  const auto names = ptm::SplitNames(fmt::format("{}", fmt::join(arguments.counted, ",")));
  const auto metrics = ptm::CheckMetrics(names);
  if (!metrics) return std::unexpected(metrics.error());
  if (metrics->metrics.size() > record::kMostCounters)
    return WrongUse("-e has {} events; a stretch has at most {}", metrics->metrics.size(),
                    record::kMostCounters);
  for (const ptm::CheckedMetric& metric : metrics->metrics) {
    if (!metric.event)
      return WrongUse("-e {}: each stretch has this without being requested; leave it out",
                      metric.name);
    arguments.kernel.counters.push_back(*metric.event);
  }
  return {};
}

std::string AgentLibrary(const record::TypedOptions& typed) {
  const auto agent = record::FindAgent(typed.agent);
  return agent ? agent->string() : "";
}

// Prints what was recorded and returns the status, or 1 if the events have no place.
int PrintEvents(const Result<std::vector<std::string>>& lines, int status) {
  if (!lines) {
    PrintError(lines.error().message);
    return status != 0 ? status : 1;
  }
  for (const std::string& line : *lines) PrintError(line);
  return status;
}

class KernelCompanion final : public Companion {
 public:
  KernelCompanion(const TimelineArguments& arguments, const Command& command)
      : arguments_(arguments), command_(command) {}

  Result<void> Begin(const record::RecordingPlan& plan) override {
    if (plan.traced)
      return WrongUse(
          "a timeline cannot be recorded of a program whose instructions are counted by "
          "tracing it: leave out --metrics");
    auto begun = record::EventFolder::Begin(plan.options.out, arguments_.kernel,
                                            AgentLibrary(arguments_.typed));
    if (!begun) return std::unexpected(begun.error());
    folder_.emplace(*std::move(begun));
    return {};
  }

  void Observe(uint32_t pid) override { folder_->Observe(pid); }

  Result<int> End(const record::RecordingPlan& plan, const record::Outcome& outcome,
                  record::RunWatch& watch) override {
    const bool is_profiled = !record::ProfilesAt(plan.options.out).empty();
    const int status = is_profiled ? ReportRun(plan, outcome, watch) : outcome.ExitCode();
    const std::string command = fmt::format("{}", fmt::join(command_, " "));
    const auto lines = folder_->End(command);
    return PrintEvents(lines, status == 0 && folder_->failed() ? 1 : status);
  }

 private:
  const TimelineArguments& arguments_;
  const Command& command_;
  std::optional<record::EventFolder> folder_;
};

// Records a JVM that runs with its calls, and another process without.
Result<int> RecordProcess(TimelineArguments& arguments) {
  const auto pid = ParsePid(arguments.attach.pid, "ps");
  if (!pid) return std::unexpected(pid.error());
  if (!procfs::Runs(*pid)) return record::NoProcess(*pid, errno);
  auto command = procfs::CommandLine(*pid);
  if (command.empty()) command = {procfs::ThreadName(*pid, *pid)};  // a thread of the kernel
  std::string& out = arguments.typed.options.out;
  if (out.empty()) out = record::FreePlace(options::ProfileName(command)).string();
  if (const auto target = record::FindTarget(*pid); !target) {
    if (record::IsJvm(*pid)) {
      PrintError("the calls are not counted, so that stretches have no calling contexts: " +
                 target.error().message);
    }
    const auto place = record::PrepareUnclaimed(out, arguments.typed.force);
    if (!place) return std::unexpected(place.error());
    return record::RecordEvents({.place = *place,
                                 .options = arguments.kernel,
                                 .limit = {},
                                 .command = {},
                                 .title = fmt::format("{}", fmt::join(command, " ")),
                                 .process = *pid,
                                 .seconds = arguments.attach.duration});
  }
  if (const auto free = record::CheckPlace(out, arguments.typed.force); !free)
    return std::unexpected(free.error());
  const auto place = record::ResolvedPlace(out);
  if (!place) return std::unexpected(place.error());
  const record::Interruption guard;  // also for a second signal, until the events are in place
  auto folder = record::EventFolder::Begin(*place, arguments.kernel, AgentLibrary(arguments.typed));
  if (!folder) return std::unexpected(folder.error());
  folder->SetProgram(*pid);
  const auto status = record::RecordRunning(*pid, arguments.attach.duration, arguments.typed);
  if (!status) return status;
  const auto lines = folder->End(fmt::format("{}", fmt::join(command, " ")));
  return PrintEvents(lines, *status == 0 && folder->failed() ? 1 : *status);
}

Result<int> Timeline(const CommandLine& line, TimelineArguments& arguments,
                     const Command& command) {
  UseMetrics(arguments.typed);
  if (auto used = UseCounters(arguments); !used) return std::unexpected(used.error());
  const auto good = CheckAttach(line, arguments.typed, arguments.attach, command);
  if (!good) return std::unexpected(good.error());
  if (!arguments.attach.pid.empty()) return RecordProcess(arguments);
  if (const auto checked = CheckCommand(line, command); !checked)
    return std::unexpected(checked.error());
  const record::Interruption guard;
  KernelCompanion companion(arguments, command);
  return RecordCommand(arguments.typed, command, &companion);
}

struct SystemArguments {
  std::optional<CommandLine> line;
  std::string out, mode = "continuous";
  uint64_t duration = 0, megabytes = 256;
  bool no_system_calls = false, no_memory = false, force = false;
};

Result<int> SystemTrace(const SystemArguments& arguments, const Command& command) {
  const auto mode = Choose("--mode", arguments.mode, {"normal", "wrap", "continuous"});
  if (!mode) return std::unexpected(mode.error());
  if (!command.empty() && arguments.duration != 0)
    return WrongUse("give either --duration or a command, not both");
  if (*mode == 2 && arguments.line->IsGiven("--limit"))
    return WrongUse("--limit needs --mode normal or wrap: a continuous trace has no limit");
  const fs::path out =
      !arguments.out.empty() ? fs::path(arguments.out) : record::FreePlace("system");
  const auto place = record::PrepareUnclaimed(out, arguments.force);
  if (!place) return std::unexpected(place.error());
  return record::RecordEvents({.place = *place,
                               .options = {.all_processes = true,
                                           .memory = !arguments.no_memory,
                                           .system_calls = !arguments.no_system_calls,
                                           .counters = {},
                                           .announcers = {}},
                               .limit = {.mode = static_cast<record::TraceLimitMode>(*mode),
                                         .bytes = arguments.megabytes << 20},
                               .command = command,
                               .title = "the whole machine",
                               .process = 0,
                               .seconds = arguments.duration});
}

}  // namespace

Action TimelineCommand(CommandLine line, const Command& command) {
  line.Footer(
      "The calls of Java programs, and of C and C++ programs with hooks, are counted, so that\n"
      "each stretch of a thread on a processor ends in an exact calling context. Events of the\n"
      "kernel are recorded by programs in it (eBPF): that needs root, or CAP_BPF and\n"
      "CAP_PERFMON.\n\n"
      "Examples:\n"
      "  jprof timeline -- java -jar app.jar            when threads ran, what they waited for\n"
      "  jprof timeline --system-calls -- ./app         a program in any language\n"
      "  jprof timeline --metrics noints -- java -jar app.jar     time of every call without\n"
      "                                                           interrupts, too\n"
      "  jprof timeline --pid 1234 --duration 10        a process that runs\n"
      "  jprof report timeline app.jprof                threads, and what they waited for\n"
      "  jprof report critical-path app.jprof           what delayed the end\n"
      "  jprof report utilisation app.jprof             how busy each processor was\n"
      "  jprof export --format perfetto app.jprof       for ui.perfetto.dev");
  line.AllowOthers();
  auto arguments = std::make_shared<TimelineArguments>();
  arguments->typed.options.mode = options::Mode::kCalltree;
  arguments->typed.options.jvm_events = true;
  AddOptions(line, arguments->typed);
  AddAttachOptions(line, options::Mode::kCalltree, arguments->attach);
  line.Option("--metrics", arguments->typed.metrics, "A+B",
              "also measure these in every call, as `jprof callflow` does: time and others, and "
              "noints, which is time without interrupts");
  line.Option("-e,--events", arguments->counted, "A,B",
              "count these events in each stretch: at most 4, see `jprof events`; repeatable")
      .OneValueEach();
  line.Flag("--system-calls", arguments->kernel.system_calls,
            "also record each system call of the program");
  line.Flag("--memory", arguments->kernel.memory,
            "also record the program's page faults and the files that it maps");
  return [line, arguments, &command] { return Timeline(line, *arguments, command); };
}

Action SystemTraceCommand(CommandLine line, const Command& command) {
  line.Footer(
      "Examples:\n"
      "  jprof system-trace --duration 5                    the whole machine for 5 s\n"
      "  jprof system-trace -- make                         while a command runs\n"
      "  jprof system-trace --mode wrap --limit 100         the last 100 MB before Ctrl-C\n"
      "  jprof report utilisation system.jprof              idle, user, kernel, interrupts\n"
      "  jprof report timeline --all system.jprof           all threads, and what they waited for\n"
      "  jprof events show system.jprof/events/kernel       how often each event is in the trace");
  auto arguments = std::make_shared<SystemArguments>();
  SystemArguments& a = *arguments;
  a.line.emplace(line);
  line.Option("-o,--output", a.out, "DIR", "The recording's directory (default: system.jprof)");
  line.Option("--duration", a.duration, "S",
              "Seconds to record (default: until the command ends, or Ctrl-C)")
      .Between(uint64_t{1}, uint64_t{1'000'000});
  line.Option("--mode", a.mode, "normal|wrap|continuous",
              "When the trace has reached --limit: normal (later events are dropped), wrap (the "
              "oldest are) or continuous (default; no limit)");
  line.Option("--limit", a.megabytes, "MB", "Size of the trace (default 256)")
      .Between(uint64_t{4}, uint64_t{1} << 20);
  line.Flag("--no-system-calls", a.no_system_calls, "Leave out system calls, the most events");
  line.Flag("--no-memory", a.no_memory, "Leave out page faults and mapped files");
  line.Flag("--force", a.force, "Replace an existing recording");
  return [arguments, &command] { return SystemTrace(*arguments, command); };
}

}  // namespace jprof::cli
