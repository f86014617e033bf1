// `jprof stat`: what a command counts, thread by thread.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>

#include "cli/choices.h"
#include "cli/commands.h"
#include "cli/count_output.h"
#include "cli/usage_error.h"
#include "ptm/event_group.h"
#include "ptm/machine.h"
#include "record/interruption.h"
#include "record/launcher.h"
#include "record/thread_counting.h"

namespace jprof::cli {
namespace {

using record::ChooseMetrics;
using record::FindProgram;
using record::HeldProgram;
using record::Interruption;
using record::kHurryHelp;
using record::kNotCounted;
using record::Launch;
using record::Outcome;
using record::ThreadCounting;

constexpr char kStatFooter[] = R"(Examples:
  jprof stat -- java -jar app.jar               time, dispatches, instructions and cycles, faults, by thread
  jprof stat --by-name -- java -jar app.jar     threads of one name in one row
  jprof stat -e PAPI_TOT_INS,PAPI_L1_DCM -- make   what the machine's counters can count: `jprof events`
  jprof stat --format csv -o counts.csv -- ./program

The table goes to standard error, so that the program's output stays as it is. See docs/STAT.md)";

struct StatArguments {
  std::vector<std::string> events;
  std::string format = "text", out;
  bool by_name = false, hurry = false;
};

struct Counted {
  CountTable table;
  int exit_code = 0;
};

Outcome AwaitEnd(HeldProgram& program, const std::function<void()>& meanwhile) {
  for (;;) {
    program.AwaitEnd(ThreadCounting::kDrainMilliseconds);
    Interruption::PassTo(program);
    meanwhile();
    if (const auto outcome = program.Ended()) return *outcome;
  }
}

Result<Counted> CountThreads(const Launch& launch, const ptm::CheckedMetrics& metrics, bool hurry) {
  auto counting = ThreadCounting::Start(metrics.metrics);
  if (!counting) return std::unexpected(counting.error());
  auto program = HeldProgram::Start(launch);
  if (!program) return std::unexpected(program.error());
  counting->AddFamily(static_cast<uint32_t>(program->pid()));
  if (hurry && !ThreadCounting::Hurry()) PrintError(ThreadCounting::kNoHurry);
  if (auto released = program->Release(); !released) return std::unexpected(released.error());
  const Outcome outcome = AwaitEnd(*program, [&counting] { counting->Drain(); });
  counting->Sync();
  return Counted{counting->Table(), outcome.ExitCode()};
}

// Of the children that have ended.
double DispatchesOfChildren() {
  rusage usage = {};
  getrusage(RUSAGE_CHILDREN, &usage);
  return static_cast<double>(usage.ru_nvcsw + usage.ru_nivcsw);
}

// From its opening on.
std::optional<double> CountOf(ptm::EventGroup& group, int event) {
  const auto reading = group.Reading(event);
  return reading ? ptm::ExactCount({}, *reading) : std::nullopt;
}

// Where whole CPUs may not be watched: one sum for the program and all it starts.
Result<Counted> CountSum(const Launch& launch, const ptm::CheckedMetrics& metrics) {
  std::vector<ptm::EventSpec> events;
  for (const ptm::CheckedMetric& metric : metrics.metrics) {
    if (metric.name != "dispatches")
      events.push_back(metric.event ? *metric.event : ptm::TaskClock());
  }
  ptm::EventGroup group;
  if (const auto failure = group.Open(events, {.inherit = true, .on_exec = true});
      failure.Failed()) {
    const ptm::EventSpec& event = events[static_cast<size_t>(failure.event) % events.size()];
    return WrongUse("metric '{}' cannot be counted: {}", event.name,
                    ptm::Explain(event, failure.error, ptm::ReadMachine()));
  }
  auto program = HeldProgram::Start(launch);
  if (!program) return std::unexpected(program.error());
  if (auto released = program->Release(); !released) return std::unexpected(released.error());
  const auto start = std::chrono::steady_clock::now();
  const Outcome outcome = AwaitEnd(*program, [] {});
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  CountTable table = {.seconds = seconds.count(), .metrics = metrics.metrics};
  table.total = {.name = "(all)", .threads = 0};
  int event = 0;
  for (const ptm::CheckedMetric& metric : metrics.metrics) {
    if (metric.name == "dispatches") {
      table.total.counts.push_back(DispatchesOfChildren());
      continue;
    }
    const auto count = CountOf(group, event++);
    table.total.counts.push_back(count.value_or(kNotCounted));
    if (!count) table.notes.push_back(NotAllTheTime(metric.name));
  }
  return Counted{std::move(table), outcome.ExitCode()};
}

Result<int> Stat(const StatArguments& arguments, const std::vector<std::string>& command) {
  const auto format = ChooseFormat(arguments.format);
  if (!format) return std::unexpected(format.error());
  if (command.empty()) return WrongUse("give a command: jprof stat -- java -jar app.jar");
  const auto program = FindProgram(command.front());
  if (!program) return std::unexpected(program.error());
  auto metrics = ChooseMetrics(SplitAll(arguments.events));
  if (!metrics) return std::unexpected(metrics.error());
  const ptm::Permission permission = ptm::SamplingPermission();
  if (!permission.whole_machine)
    metrics->notes.push_back("threads are not told apart: " + permission.advice);
  CountOutput out;
  if (auto opened = out.Open(arguments.out, stderr); !opened)
    return std::unexpected(opened.error());

  const Interruption guard;
  const Launch launch = {*program, command, std::nullopt};
  auto counted = permission.whole_machine ? CountThreads(launch, *metrics, arguments.hurry)
                                          : CountSum(launch, *metrics);
  if (!counted) return std::unexpected(counted.error());
  std::ranges::move(counted->table.notes, std::back_inserter(metrics->notes));
  for (const std::string& note : metrics->notes) PrintError(note);
  counted->table.command = fmt::format("{}", fmt::join(command, " "));
  counted->table.notes = metrics->notes;
  if (arguments.by_name) {
    SumByName(counted->table);
    SortByTime(counted->table);
  }
  if (auto printed = out.Print(counted->table, *format); !printed)
    return std::unexpected(printed.error());
  return counted->exit_code;
}

}  // namespace

void AddStatCommand(CLI::App& app, const std::vector<std::string>& command, int& exit_code) {
  auto arguments = std::make_shared<StatArguments>();
  CLI::App* sub = app.add_subcommand("stat", "Runs a command and counts, thread by thread");
  sub->footer(kStatFooter);
  sub->add_option("-e,--events", arguments->events,
                  "What to count: A,B (8 at most), see `jprof events`; repeatable")
      ->allow_extra_args(false);
  sub->add_flag("--by-name", arguments->by_name, "Sum up the threads of one name");
  sub->add_flag("--hurry", arguments->hurry, kHurryHelp);
  sub->add_option("--format", arguments->format, "text (default), json or csv");
  sub->add_option("-o,--output", arguments->out, "A file for the table, - for standard output");
  sub->callback(
      [arguments, &command, &exit_code] { exit_code = StatusOf(Stat(*arguments, command)); });
}

}  // namespace jprof::cli
