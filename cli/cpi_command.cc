// `jprof cpi`: instructions, cycles and cycles per instruction of a command, a process or the
// machine.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>

#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

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
#include "reports/json_writer.h"

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

// Of each group, instructions and cycles.
using Readings = std::vector<std::optional<ptm::CounterReading>>;

Readings Read(const Groups& groups) {
  Readings readings;
  for (const auto& group : groups) {
    for (int event = 0; event < 2; ++event) readings.push_back(group->Reading(event));
  }
  return readings;
}

// What all groups counted of one of the two.
std::optional<double> Sum(const Readings& before, const Readings& now, size_t event) {
  double sum = 0;
  for (size_t i = event; i < now.size(); i += 2) {
    if (!before[i] || !now[i]) return std::nullopt;
    const auto count = ptm::ExactCount(*before[i], *now[i]);
    if (!count) return std::nullopt;
    sum += static_cast<double>(*count);
  }
  return sum;
}

struct Figures {
  double seconds = 0;
  std::optional<double> instructions, cycles;

  std::optional<double> Cpi() const {
    if (!instructions || !cycles || *instructions == 0) return std::nullopt;
    return *cycles / *instructions;
  }
};

std::string Text(const std::optional<double>& figure, int digits, const char* otherwise) {
  return figure ? fmt::format("{:.{}f}", *figure, digits) : otherwise;
}

void PrintJson(const Figures& figures, std::FILE* file) {
  reports::Output out(file);
  reports::JsonWriter json(out);
  const auto member = [&json](std::string_view key, const std::optional<double>& value,
                              int digits) {
    json.FixedMember(key, value.value_or(NAN), digits);  // NaN: null
  };
  json.StartObject();
  member("seconds", figures.seconds, 6);
  member("instructions", figures.instructions, 0);
  member("cycles", figures.cycles, 0);
  member("cpi", figures.Cpi(), 6);
  json.EndObject();
  json.Finish();
  static_cast<void>(out.Finish());
}

void Print(const Figures& figures, reports::Format format, bool first, std::FILE* file) {
  const bool json = format == reports::Format::kJson, csv = format == reports::Format::kCsv;
  const char* none = json ? "null" : csv ? "" : "-";
  const std::string instructions = Text(figures.instructions, 0, none),
                    cycles = Text(figures.cycles, 0, none),
                    cpi = Text(figures.Cpi(), json || csv ? 6 : 2, none);
  if (json) {
    PrintJson(figures, file);
  } else if (csv) {
    if (first) fmt::print(file, "seconds,instructions,cycles,cpi\n");
    fmt::print(file, "{:.6f},{},{},{}\n", figures.seconds, instructions, cycles, cpi);
  } else {
    if (first)
      fmt::print(file, "{:>10} {:>18} {:>18} {:>8}\n", "SECONDS", "INSTRUCTIONS", "CYCLES", "CPI");
    fmt::print(file, "{:>10.3f} {:>18} {:>18} {:>8}\n", figures.seconds, instructions, cycles, cpi);
  }
  std::fflush(file);
}

Figures Between(const Readings& before, const Readings& now, double seconds) {
  const Figures figures = {seconds, Sum(before, now, 0), Sum(before, now, 1)};
  if (!figures.instructions) PrintError(NotAllTheTime("PAPI_TOT_INS"));
  if (!figures.cycles) PrintError(NotAllTheTime("PAPI_TOT_CYC"));
  return figures;
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
  const Readings before = Read(groups);
  Stopwatch watch;
  const auto ended = cli::Run(Launch{*found, command, std::nullopt});
  if (!ended) return std::unexpected(ended.error());
  Print(Between(before, Read(groups), watch.Lap()), format, true, file);
  return ended->ExitCode();
}

Result<int> OfIntervals(const std::vector<ptm::EventSpec>& events, const CpiArguments& arguments,
                        reports::Format format, std::FILE* file) {
  auto groups = OpenGroups(events, arguments.pid);
  if (!groups) return std::unexpected(groups.error());
  const Interruption guard;
  Stopwatch watch;
  Readings before = Read(*groups);
  for (uint64_t i = 0; i < arguments.count && Interruption::Number() == 0; ++i) {
    poll(nullptr, 0, static_cast<int>(arguments.interval * 1e3));
    Readings now = Read(*groups);
    Print(Between(before, now, watch.Lap()), format, i == 0, file);
    before = std::move(now);
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
