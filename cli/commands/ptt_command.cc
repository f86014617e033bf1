// `jprof ptt`: counts the threads of a process tree, the machine or a command, live or at the end.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cerrno>
#include <cstdio>
#include <memory>

#include "cli/shared/choices.h"
#include "cli/shared/commands.h"
#include "cli/shared/count_output.h"
#include "cli/shared/counting_options.h"
#include "common/procfs.h"
#include "ptm/cpu_sampler.h"
#include "record/count/thread_watch.h"
#include "record/run/no_process.h"

namespace jprof::cli {
namespace {

constexpr char kPttFooter[] =
    R"(DISP counts what /proc/PID/task/TID/status has as context switches of both kinds; INTR counts
the interrupts that came while the thread ran. See docs/COUNTERS.md

Examples:
  jprof ptt 1234 --interval 1                  a process and what it started, every second
  jprof ptt --all --interval 5 --count 1       the whole machine, once, over 5 s
  jprof ptt 1234                               until Ctrl-C or its end, then one table
  jprof ptt --interval 1 -e PAPI_TOT_INS,PAPI_TOT_CYC -- java -jar app.jar)";

struct PttArguments {
  uint32_t pid = 0;
  bool all = false;
  double interval = 0;
  uint64_t count = 0;
  CountingOptions counting;
};

Result<void> Check(const PttArguments& arguments, const Command& command) {
  const int targets = (arguments.pid != 0) + arguments.all + !command.empty();
  if (targets != 1) return WrongUse("give one of: a process id, --all, or a command after --");
  if (arguments.count != 0 && arguments.interval == 0)
    return WrongUse("--count requires --interval, e.g. --interval 1");
  if (arguments.pid != 0 && !procfs::Exists(arguments.pid))
    return record::NoProcess(arguments.pid, errno);
  const ptm::Permission permission = ptm::SamplingPermission();
  if (!permission.whole_machine) {
    return WrongUse(
        "threads of other processes cannot be counted: "
        "{}; `jprof stat` counts a command as a whole",
        permission.advice);
  }
  return {};
}

std::string TargetText(const PttArguments& arguments, const Command& command) {
  if (arguments.all) return "the whole machine";
  return command.empty() ? fmt::format("process {} and its descendants", arguments.pid)
                         : fmt::format("{}", fmt::join(command, " "));
}

Result<record::WatchPlan> PlanOf(const PttArguments& arguments, const Command& command) {
  record::WatchPlan plan = {.pid = arguments.pid,
                            .interval = arguments.interval,
                            .count = arguments.count,
                            .real_time = arguments.counting.real_time,
                            .target = TargetText(arguments, command)};
  if (!command.empty()) {
    const auto program = record::FindProgram(command.front());
    if (!program) return std::unexpected(program.error());
    plan.launch = {*program, command, std::nullopt};
  }
  auto metrics = CountedMetrics(arguments.counting);
  if (!metrics) return std::unexpected(metrics.error());
  plan.metrics = *std::move(metrics);
  record::PutDispatchesFirst(plan.metrics.metrics);
  record::AddInterrupts(plan);
  return plan;
}

Result<int> Ptt(const PttArguments& arguments, const Command& command) {
  const auto format = ChooseFormat(arguments.counting.format);
  if (!format) return std::unexpected(format.error());
  if (auto checked = Check(arguments, command); !checked) return std::unexpected(checked.error());
  auto plan = PlanOf(arguments, command);
  if (!plan) return std::unexpected(plan.error());
  CountOutput out;
  if (auto opened = out.Open(arguments.counting.out, command.empty() ? stdout : stderr); !opened)
    return std::unexpected(opened.error());
  return record::WatchThreads(*std::move(plan),
                              [&](const CountTable& table) { return out.Print(table, *format); });
}

}  // namespace

Action PttCommand(CommandLine line, const Command& command) {
  auto arguments = std::make_shared<PttArguments>();
  line.Footer(kPttFooter);
  PttArguments& a = *arguments;
  line.Option("PID", a.pid, "PID", "Count this process and its descendants").Positive();
  line.Flag("-a,--all", a.all, "Count the whole machine");
  line.Option("--interval", a.interval, "", "Seconds between tables; default: one table at the end")
      .Between(0.01, 1e6);
  line.Option("--count", a.count, "", "Number of tables").Positive();
  AddCountingOptions(line, a.counting, "text (default), json (one line per table) or csv",
                     "File for the tables; - is standard output");
  return [arguments, &command] { return Ptt(*arguments, command); };
}

}  // namespace jprof::cli
