// `jprof cpi`: instructions, cycles and cycles per instruction of a command, a process or the
// machine.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <memory>

#include "cli/choices.h"
#include "cli/commands.h"
#include "cli/count_output.h"
#include "cli/interruption.h"
#include "cli/launcher.h"
#include "cli/tprof_record.h"
#include "cli/wrong_words.h"
#include "ptm/event_group.h"
#include "ptm/machine.h"
#include "ptm/sampler.h"

namespace jprof::cli {
namespace {

constexpr char kCpiFooter[] = R"(Examples:
  jprof cpi -- java -jar app.jar               of a command and what it starts
  jprof cpi --interval 5                       of the whole machine over 5 s
  jprof cpi --interval 1 --count 10 -p 1234    of a process, ten times

Counts are of user mode. Without hardware counters: exit status 2 and one line that says why.)";

struct CpiArguments {
  uint32_t pid = 0;
  double interval = 0;
  uint64_t count = 1;
  std::string format = "text", out;
};

using Groups = std::vector<std::unique_ptr<ptm::EventGroup>>;

Result<void> Add(Groups& groups, const std::vector<ptm::EventSpec>& events,
                 const ptm::Target& target) {
  auto group = std::make_unique<ptm::EventGroup>();
  const ptm::OpenFailure failure = group->Open(events, target);
  if (failure.error == ESRCH) return {};  // a thread that has ended meanwhile
  if (failure.Failed()) {
    const ptm::EventSpec& event = events[static_cast<size_t>(failure.event) % events.size()];
    return WrongUse("'{}' cannot be counted: {}", event.name,
                    ptm::Explain(event, failure.error, ptm::ReadMachine()));
  }
  groups.push_back(std::move(group));
  return {};
}

// The machine: each CPU. A process: its threads and what they start.
Result<Groups> OpenGroups(const std::vector<ptm::EventSpec>& events, uint32_t pid) {
  Groups groups;
  std::vector<ptm::Target> targets;
  if (pid == 0) {
    for (const int cpu : ptm::OnlineCpus()) targets.push_back({.tid = -1, .cpu = cpu});
  } else {
    for (const uint32_t tid : NumbersIn(fmt::format("/proc/{}/task", pid)))
      targets.push_back({.tid = static_cast<int>(tid), .inherit = true});
  }
  for (const ptm::Target& target : targets) {
    if (auto added = Add(groups, events, target); !added) return std::unexpected(added.error());
  }
  if (groups.empty()) return WrongUse("there is no process {}", pid);
  return groups;
}

std::vector<double> Sums(Groups& groups) {
  std::vector<double> sums(2, 0);
  for (auto& group : groups) {
    int64_t values[2];
    group->ReadAll(values);
    for (size_t i = 0; i < 2; ++i) sums[i] += static_cast<double>(values[i]);
  }
  return sums;
}

void Print(const std::vector<double>& sums, double seconds, reports::Format format, bool first,
           std::FILE* file) {
  const double cpi = sums[0] > 0 ? sums[1] / sums[0] : 0;
  if (format == reports::Format::kJson) {
    fmt::print(file,
               "{{\"seconds\":{:.6f},\"instructions\":{:.0f},\"cycles\":{:.0f},\"cpi\":{:.6f}}}\n",
               seconds, sums[0], sums[1], cpi);
  } else if (format == reports::Format::kCsv) {
    if (first) fmt::print(file, "seconds,instructions,cycles,cpi\n");
    fmt::print(file, "{:.6f},{:.0f},{:.0f},{:.6f}\n", seconds, sums[0], sums[1], cpi);
  } else {
    if (first)
      fmt::print(file, "{:>10} {:>18} {:>18} {:>8}\n", "SECONDS", "INSTRUCTIONS", "CYCLES", "CPI");
    fmt::print(file, "{:>10.3f} {:>18.0f} {:>18.0f} {:>8.2f}\n", seconds, sums[0], sums[1], cpi);
  }
  std::fflush(file);
}

class Stopwatch {
 public:
  double Lap() {
    const auto now = std::chrono::steady_clock::now();
    const std::chrono::duration<double> lap = now - start_;
    start_ = now;
    return lap.count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

Result<int> OfCommand(const std::vector<ptm::EventSpec>& events,
                      const std::vector<std::string>& command, reports::Format format,
                      std::FILE* file) {
  const auto found = FindProgram(command.front());
  if (!found) return std::unexpected(found.error());
  Groups groups;
  if (auto added = Add(groups, events, {.inherit = true, .on_exec = true}); !added)
    return std::unexpected(added.error());
  Stopwatch watch;
  const auto ended = Run({*found, command, std::nullopt});
  if (!ended) return std::unexpected(ended.error());
  Print(Sums(groups), watch.Lap(), format, true, file);
  return ended->ExitCode();
}

Result<int> OfIntervals(const std::vector<ptm::EventSpec>& events, const CpiArguments& arguments,
                        reports::Format format, std::FILE* file) {
  auto groups = OpenGroups(events, arguments.pid);
  if (!groups) return std::unexpected(groups.error());
  const Interruption guard;
  Stopwatch watch;
  std::vector<double> before = Sums(*groups);
  for (uint64_t i = 0; i < arguments.count && Interruption::Number() == 0; ++i) {
    poll(nullptr, 0, static_cast<int>(arguments.interval * 1e3));
    std::vector<double> now = Sums(*groups);
    Print({now[0] - before[0], now[1] - before[1]}, watch.Lap(), format, i == 0, file);
    before = now;
  }
  return 0;
}

Result<int> Cpi(const CpiArguments& arguments, const std::vector<std::string>& command) {
  const auto format = ChooseFormat(arguments.format);
  if (!format) return std::unexpected(format.error());
  if (!command.empty() && (arguments.pid != 0 || arguments.interval != 0))
    return WrongUse("give either a command, or an --interval (with -p PID or of the machine)");
  if (command.empty() && arguments.interval == 0)
    return WrongUse("give a command behind --, or an --interval, e.g. jprof cpi --interval 5");
  const std::string names[] = {"PAPI_TOT_INS", "PAPI_TOT_CYC"};
  const auto metrics = ptm::CheckMetrics(names);
  if (!metrics) return std::unexpected(metrics.error());
  for (const std::string& note : metrics->notes) PrintError(note);
  CountOutput out;
  if (auto opened = out.Open(arguments.out, command.empty() ? stdout : stderr); !opened)
    return std::unexpected(opened.error());
  const std::vector<ptm::EventSpec> events = {*metrics->metrics[0].event,
                                              *metrics->metrics[1].event};
  return command.empty() ? OfIntervals(events, arguments, *format, out.file())
                         : OfCommand(events, command, *format, out.file());
}

}  // namespace

void AddCpiCommand(CLI::App& app, const std::vector<std::string>& command, int& exit_code) {
  auto arguments = std::make_shared<CpiArguments>();
  CLI::App* sub = app.add_subcommand("cpi", "Cycles per instruction: of a command or an interval");
  sub->footer(kCpiFooter);
  CpiArguments& a = *arguments;
  sub->add_option("-p,--pid", a.pid, "This process; default: the whole machine")
      ->check(CLI::PositiveNumber);
  sub->add_option("--interval", a.interval, "Seconds")->check(CLI::Range(0.01, 1e6));
  sub->add_option("--count", a.count, "So many intervals (1)")->check(CLI::PositiveNumber);
  sub->add_option("--format", a.format, "text (default), json or csv");
  sub->add_option("-o,--output", a.out, "A file for the figures, - for standard output");
  sub->callback(
      [arguments, &command, &exit_code] { exit_code = StatusOf(Cpi(*arguments, command)); });
}

}  // namespace jprof::cli
