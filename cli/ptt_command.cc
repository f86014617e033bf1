// `jprof ptt`: the threads of a process tree or of the machine with what they count, live or at the
// end.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>

#include "cli/choices.h"
#include "cli/commands.h"
#include "cli/count_output.h"
#include "cli/usage_error.h"
#include "common/monotonic.h"
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
using record::ThreadCounting;

constexpr char kPttFooter[] = R"(Examples:
  jprof ptt 1234 --interval 1                  a process and what it started, every second
  jprof ptt --all --interval 5 --count 1       the whole machine, once, over 5 s
  jprof ptt 1234                               until Ctrl-C or its end, then one table
  jprof ptt --interval 1 -e PAPI_TOT_INS,PAPI_TOT_CYC -- java -jar app.jar

DISP counts what /proc/PID/task/TID/status has as context switches of both kinds. See docs/STAT.md)";

struct PttArguments {
  uint32_t pid = 0;
  bool all = false, hurry = false;
  double interval = 0;
  uint64_t count = 0;
  std::vector<std::string> events;
  std::string format = "text", out;
};

// DISP stands first, asked for or not.
void PutDispatchesFirst(std::vector<ptm::CheckedMetric>& metrics) {
  std::erase_if(metrics, [](const auto& metric) { return metric.name == "dispatches"; });
  metrics.insert(metrics.begin(), ptm::CheckedMetric{"dispatches", std::nullopt});
}

double Seconds() { return static_cast<double>(MonotonicNanos()) / 1e9; }

bool Exists(uint32_t pid) {
  struct stat status;
  return stat(fmt::format("/proc/{}", pid).c_str(), &status) == 0;
}

// Counts for `seconds` (0: without end); true: whatever is looked at is over.
class Watch {
 public:
  Watch(ThreadCounting& counting, const PttArguments& arguments, HeldProgram* program)
      : counting_(counting), arguments_(arguments), program_(program) {}

  // However late it is, it drains once and asks whether all is over; an interval that is over
  // before it begins is left out.
  bool For(double seconds) {
    const double end = seconds > 0 ? end_ + seconds : std::numeric_limits<double>::infinity();
    do {
      Pause(end - Seconds());
      counting_.Drain();
      if (Over()) return true;
    } while (Seconds() < end);
    end_ = Seconds() < end + seconds ? end : Seconds();
    return false;
  }
  int exit_code() const { return exit_code_; }

 private:
  // At least a millisecond: whoever watches a busy machine leaves it some time.
  void Pause(double seconds) {
    const double most = ThreadCounting::kDrainMilliseconds;
    const int pause = static_cast<int>(std::clamp(seconds * 1e3 + 1, 1.0, most));
    if (program_ != nullptr) {
      program_->AwaitEnd(pause);
    } else {
      poll(nullptr, 0, pause);
    }
  }

  bool Over() {
    if (program_ != nullptr) {
      Interruption::PassTo(*program_);
      const auto outcome = program_->Ended();
      if (outcome) exit_code_ = outcome->ExitCode();
      return outcome.has_value();
    }
    return Interruption::Number() != 0 || (!arguments_.all && !Exists(arguments_.pid));
  }

  ThreadCounting& counting_;
  const PttArguments& arguments_;
  HeldProgram* program_;
  double end_ = Seconds();
  int exit_code_ = 0;
};

Result<void> Check(const PttArguments& arguments, const std::vector<std::string>& command) {
  const int targets = (arguments.pid != 0) + arguments.all + !command.empty();
  if (targets != 1)
    return WrongUse("give one of: a process's number, --all, or a command behind --");
  if (arguments.count != 0 && arguments.interval == 0)
    return WrongUse("--count needs an --interval, e.g. --interval 1");
  if (arguments.pid != 0 && !Exists(arguments.pid))
    return WrongUse("there is no process {}", arguments.pid);
  const ptm::Permission permission = ptm::SamplingPermission();
  if (!permission.whole_machine) {
    return WrongUse("threads of others cannot be counted: {}; `jprof stat` sums up a command",
                    permission.advice);
  }
  return {};
}

std::string Target(const PttArguments& arguments, const std::vector<std::string>& command) {
  if (arguments.all) return "the whole machine";
  return command.empty() ? fmt::format("process {} and what it started", arguments.pid)
                         : fmt::format("{}", fmt::join(command, " "));
}

Result<int> Ptt(const PttArguments& arguments, const std::vector<std::string>& command) {
  const auto format = ChooseFormat(arguments.format);
  if (!format) return std::unexpected(format.error());
  if (auto checked = Check(arguments, command); !checked) return std::unexpected(checked.error());
  auto metrics = ChooseMetrics(SplitAll(arguments.events));
  if (!metrics) return std::unexpected(metrics.error());
  PutDispatchesFirst(metrics->metrics);
  CountOutput out;
  if (auto opened = out.Open(arguments.out, command.empty() ? stdout : stderr); !opened)
    return std::unexpected(opened.error());
  metrics->notes.push_back("no INTR column: interrupts per thread have no source in this version");

  const Interruption guard;
  auto counting = ThreadCounting::Start(metrics->metrics);
  if (!counting) return std::unexpected(counting.error());
  for (const std::string& note : metrics->notes) PrintError(note);
  std::optional<HeldProgram> program;
  if (command.empty()) {
    counting->AddExisting(arguments.pid);
  } else {
    const auto found = FindProgram(command.front());
    if (!found) return std::unexpected(found.error());
    auto held = HeldProgram::Start({*found, command, std::nullopt});
    if (!held) return std::unexpected(held.error());
    program.emplace(*std::move(held));
    counting->AddFamily(static_cast<uint32_t>(program->pid()));
  }
  if (arguments.hurry && !ThreadCounting::Hurry()) PrintError(ThreadCounting::kNoHurry);
  if (program) {
    if (auto released = program->Release(); !released) return std::unexpected(released.error());
  }
  Watch watch(*counting, arguments, program ? &*program : nullptr);
  bool over = false;
  for (uint64_t tables = 0; !over && (arguments.count == 0 || tables < arguments.count); ++tables) {
    over = watch.For(arguments.interval);
    counting->Sync();
    CountTable table = counting->Table();
    table.command = Target(arguments, command);
    table.notes = metrics->notes;
    if (auto printed = out.Print(table, *format); !printed) return std::unexpected(printed.error());
    counting->StartTable();
  }
  while (program && !over) over = watch.For(0);
  return watch.exit_code();
}

}  // namespace

void AddPttCommand(CLI::App& app, const std::vector<std::string>& command, int& exit_code) {
  auto arguments = std::make_shared<PttArguments>();
  CLI::App* sub = app.add_subcommand(
      "ptt", "Threads and what they count: a process tree, the machine or a command");
  sub->footer(kPttFooter);
  PttArguments& a = *arguments;
  sub->add_option("PID", a.pid, "This process and what it started")->check(CLI::PositiveNumber);
  sub->add_flag("-a,--all", a.all, "The whole machine");
  sub->add_option("--interval", a.interval,
                  "A table every so many seconds; default: one at the end")
      ->check(CLI::Range(0.01, 1e6));
  sub->add_option("--count", a.count, "So many tables")->check(CLI::PositiveNumber);
  sub->add_option("-e,--events", a.events,
                  "What to count: A,B (8 at most), see `jprof events`; repeatable")
      ->allow_extra_args(false);
  sub->add_flag("--hurry", a.hurry, kHurryHelp);
  sub->add_option("--format", a.format, "text (default), json (one line a table) or csv");
  sub->add_option("-o,--output", a.out, "A file for the tables, - for standard output");
  sub->callback(
      [arguments, &command, &exit_code] { exit_code = StatusOf(Ptt(*arguments, command)); });
}

}  // namespace jprof::cli
