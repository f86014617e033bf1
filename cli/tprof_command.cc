// `jprof tprof`: where the whole machine, some processes or a command spend their time.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>

#include "cli/choices.h"
#include "cli/commands.h"
#include "cli/installation.h"
#include "cli/interrupt_cost.h"
#include "cli/profile_place.h"
#include "cli/tprof_record.h"
#include "cli/wrong_words.h"
#include "ptm/names/event_name.h"
#include "ptm/sampling_rate.h"
#include "reports/tprof.h"

namespace jprof::cli {
namespace {

namespace fs = std::filesystem;

struct TprofArguments {
  bool all = false;
  std::vector<uint32_t> pids;
  uint64_t rate = 0, period = 0;
  std::string event, out, agent, from, format = "text";
  double duration = 0, delay = 0;
  bool force_rate = false, chains = false, code = false, children = false;
  reports::TprofOptions report;
};

Result<ptm::SamplerOptions> SamplingOf(const TprofArguments& arguments) {
  ptm::SamplerOptions sampling = {.chains = arguments.chains, .pids = arguments.pids};
  if (arguments.rate != 0 && arguments.period != 0)
    return WrongUse("--rate and --period exclude each other");
  if (arguments.rate != 0) sampling.rate = arguments.rate;
  if (arguments.event.empty()) {
    if (arguments.period != 0) return WrongUse("--period needs an --event to count");
    return sampling;
  }
  auto event = ptm::CheckEvent(arguments.event);
  if (!event) return std::unexpected(event.error());
  sampling.event = event->spec;
  if (arguments.period != 0) {
    sampling.rate = 0;
    sampling.period = arguments.period;
  }
  return sampling;
}

uint32_t OwnerOf(uint32_t pid) {
  struct stat status;
  return stat(fmt::format("/proc/{}", pid).c_str(), &status) == 0 ? status.st_uid : ~0u;
}

// All of this user's processes: what is left where the whole machine is forbidden.
std::vector<uint32_t> OwnProcesses() {
  std::vector<uint32_t> pids = NumbersIn("/proc");
  std::erase_if(pids, [](uint32_t pid) {
    return OwnerOf(pid) != geteuid() || pid == static_cast<uint32_t>(getpid());
  });
  return pids;
}

Result<void> CheckPids(const std::vector<uint32_t>& pids) {
  for (const uint32_t pid : pids) {
    const uint32_t owner = OwnerOf(pid);
    if (owner == ~0u) return WrongUse("there is no process {}", pid);
    if (geteuid() != 0 && owner != geteuid()) {
      return WrongUse(
          "process {} belongs to another user: only root, or one with CAP_PERFMON, can sample it",
          pid);
    }
  }
  return {};
}

bool IsJava(const std::string& program) {
  const std::string name = fs::path(program).filename().string();
  return name == "java" || name == "javac";
}

// With the agent in it if it is a JVM (or --children: then in every JVM below it).
Result<Launch> LaunchOf(const TprofArguments& arguments, const std::vector<std::string>& command,
                        const fs::path& out, std::vector<std::string>& notes) {
  const auto program = FindProgram(command.front());
  if (!program) return std::unexpected(program.error());
  if (!IsJava(command.front()) && !arguments.children)
    return Launch{*program, command, std::nullopt};
  const auto agent = FindAgent(arguments.agent);
  if (!agent) {
    notes.push_back("jitted code will have no names: " + agent.error().message);
    return Launch{*program, command, std::nullopt};
  }
  const std::string options =
      fmt::format("tprof,out={}{}{}", (out / "jvm.jprof").string(), arguments.code ? ",code" : "",
                  arguments.children ? ",children" : "");
  const char* tool_options = std::getenv("JAVA_TOOL_OPTIONS");
  return WithAgent(command, *agent, options, arguments.children,
                   tool_options != nullptr ? tool_options : "");
}

Result<TprofPlan> Prepare(const TprofArguments& arguments,
                          const std::vector<std::string>& command) {
  if (arguments.all && !arguments.pids.empty()) return WrongUse("-a and -p exclude each other");
  if (!arguments.pids.empty() && !command.empty())
    return WrongUse("give either -p or a command, not both");
  if (auto known = CheckPids(arguments.pids); !known) return std::unexpected(known.error());
  auto sampling = SamplingOf(arguments);
  if (!sampling) return std::unexpected(sampling.error());
  TprofPlan plan = {.sampling = *std::move(sampling), .delay = arguments.delay};
  plan.duration = arguments.duration;
  plan.whole_machine = arguments.all || (command.empty() && arguments.pids.empty());
  const std::string name = command.empty() ? "machine" : ProfileName(command);
  const auto place = PreparePlace(
      arguments.out.empty() ? FreePlace(name + "-tprof").string() : arguments.out, false);
  if (!place) return std::unexpected(place.error());
  plan.out = *place;
  plan.command =
      command.empty()
          ? (plan.whole_machine ? "the whole machine"
                                : fmt::format("process {}", fmt::join(arguments.pids, ", ")))
          : fmt::format("{}", fmt::join(command, " "));
  if (!command.empty()) {
    auto launch = LaunchOf(arguments, command, plan.out, plan.notes);
    if (!launch) return std::unexpected(launch.error());
    plan.launch = *std::move(launch);
  }
  const ptm::Permission permission = ptm::SamplingPermission();
  if (plan.whole_machine && !permission.whole_machine) {
    plan.notes.push_back("only this user's processes are sampled: " + permission.advice);
    plan.whole_machine = false;
    if (command.empty()) plan.sampling.pids = OwnProcesses();
    if (command.empty() && plan.sampling.pids.empty()) {
      return WrongUse("this user may not sample the whole machine and has no other process: {}",
                      permission.advice);
    }
  }
  if (auto limited = LimitSampler(plan.sampling, arguments.force_rate, plan.notes); !limited)
    return std::unexpected(limited.error());
  return plan;
}

int Print(const fs::path& directory, const TprofArguments& arguments) {
  auto recording = reports::OpenRecording(directory);
  if (!recording) {
    PrintError(recording.error().message);
    return ExitCodeOf(recording.error());
  }
  reports::Output out(stdout, isatty(STDOUT_FILENO) && std::getenv("NO_COLOR") == nullptr);
  auto printed = reports::PrintTprof(*recording, arguments.report, out);
  if (printed) printed = out.Finish();
  if (printed) return 0;
  PrintError(printed.error().message);
  return ExitCodeOf(printed.error());
}

int Tprof(TprofArguments arguments, const std::vector<std::string>& command) {
  const auto format = ChooseFormat(arguments.format, reports::kTreeFormats);
  if (!format) {
    PrintError(format.error().message);
    return ExitCodeOf(format.error());
  }
  arguments.report.format = *format;
  if (!arguments.from.empty()) return Print(arguments.from, arguments);
  const auto plan = Prepare(arguments, command);
  if (!plan) {
    PrintError(plan.error().message);
    return ExitCodeOf(plan.error());
  }
  for (const std::string& note : plan->notes) PrintError(note);
  if (plan->duration == 0 && !plan->launch && isatty(STDERR_FILENO))
    PrintError("sampling; Ctrl-C ends it and prints the report");
  const auto outcome = RecordTprof(*plan);
  if (!outcome) {
    PrintError(outcome.error().message);
    return ExitCodeOf(outcome.error());
  }
  const int printed = Print(plan->out, arguments);
  fmt::print(stderr, "jprof: recording in {}; again: jprof tprof --from {}\n",
             plan->out.filename().string(), fs::proximate(plan->out).string());
  return printed != 0 ? printed : *outcome;
}

}  // namespace

void AddTprofCommand(CLI::App& app, const std::vector<std::string>& command, int& exit_code) {
  auto arguments = std::make_shared<TprofArguments>();
  CLI::App* sub = app.add_subcommand(
      "tprof", "Samples the whole machine, processes or a command; jitted Java by name");
  sub->footer(
      "Examples:\n"
      "  jprof tprof --duration 10                      the whole machine for 10 s\n"
      "  jprof tprof -- java -jar app.jar               this program, its jitted methods by name\n"
      "  jprof tprof -a -- java -jar app.jar            everything else meanwhile, too\n"
      "  jprof tprof -p 1234 --duration 5 --clip 1      a running process, rows of 1 % and more\n"
      "  jprof tprof --rate 1000 -- java -jar app.jar   finer; less where interrupts are slow\n"
      "  jprof tprof --chains --format collapsed -- ./app > stacks   for flame-graph tools\n"
      "  jprof tprof --from app-tprof.jprof --annotate myMethod   instructions with ticks "
      "(recorded with --code)");
  TprofArguments& a = *arguments;
  sub->add_flag("-a,--all", a.all, "The whole machine (default without -p and command)");
  sub->add_option("-p,--pid", a.pids, "These processes and what they start");
  sub->add_option("--rate", a.rate, "Samples per second on each CPU, up to 20000 (100)")
      ->check(CLI::Range(uint64_t{1}, ptm::kMostRate));
  sub->add_flag(
      "--force-rate", a.force_rate,
      "This rate even where an interrupt takes more than a fifth of the time between two");
  sub->add_option("--event", a.event, "Sample by this event instead of time (PAPI or perf name)");
  sub->add_option("--period", a.period, "Sample every so many events")->check(CLI::PositiveNumber);
  sub->add_option("--duration", a.duration, "Seconds; default until the command ends, or Ctrl-C")
      ->check(CLI::PositiveNumber);
  sub->add_option("--delay", a.delay, "Seconds before sampling begins")
      ->check(CLI::NonNegativeNumber);
  sub->add_flag("--chains", a.chains,
                "Record call chains (frame pointers), for --callers and --format collapsed");
  sub->add_flag("--code", a.code, "Record the instructions of jitted methods, for --annotate");
  sub->add_flag("--children", a.children,
                "Name the jitted code of every JVM that the command starts");
  sub->add_option("-o,--output", a.out, "The recording's directory");
  sub->add_option("--agent", a.agent, "libjprof.so (JPROF_AGENT, else beside this program)");
  sub->add_option("--from", a.from, "Report this recording instead of making one");
  sub->add_option("--format", a.format,
                  "text (default), json, csv, or collapsed (for flame graphs)");
  sub->add_option("--clip", a.report.clip, "Sum up rows below this share, percent")
      ->check(CLI::Range(0.0, 100.0));
  sub->add_flag("--by-line", a.report.by_line, "Source lines below the symbols of Module_Symbol");
  sub->add_option("--annotate", a.report.annotate,
                  "Instructions with ticks of the symbols whose names contain this");
  sub->add_option("--callers", a.report.callers,
                  "Who called the symbols whose names contain this (recorded with --chains)")
      ->excludes("--annotate");
  sub->callback([arguments, &command, &exit_code] { exit_code = Tprof(*arguments, command); });
}

}  // namespace jprof::cli
