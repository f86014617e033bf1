// `jprof cpi`: prints instructions, cycles and cycles per instruction of a command, a process or
// the machine.
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>

#include "cli/shared/choices.h"
#include "cli/shared/commands.h"
#include "cli/shared/count_output.h"
#include "cli/shared/usage_error.h"
#include "ptm/names/event_name.h"
#include "record/count/cpi_counting.h"
#include "reports/print/json_writer.h"

namespace jprof::cli {
namespace {

using record::CpiFigures;

constexpr char kCpiFooter[] =
    R"(Counts user mode only. Without hardware counters: exit status 2 and one line with the reason.

Examples:
  jprof cpi -- java -jar app.jar               a command and its descendants
  jprof cpi --interval 5                       the whole machine during 5 s
  jprof cpi --interval 1 --count 10 -p 1234    a process, ten times)";

struct CpiArguments {
  uint32_t pid = 0;
  double interval = 0;
  uint64_t count = 1;
  std::string format = "text", out;
};

std::string Text(const std::optional<double>& figure, int digits, const char* otherwise) {
  return figure ? fmt::format("{:.{}f}", *figure, digits) : otherwise;
}

void PrintJson(const CpiFigures& figures, std::FILE* file) {
  reports::Output out(file);
  reports::JsonWriter json(out);
  const auto member = [&json](std::string_view key, const std::optional<double>& value,
                              int digits) {
    json.FixedMember(key, value.value_or(NAN), digits);  // null for NaN
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

void PrintCsv(const CpiFigures& figures, bool first, std::FILE* file) {
  if (first) fmt::print(file, "seconds,instructions,cycles,cpi\n");
  fmt::print(file, "{:.6f},{},{},{}\n", figures.seconds, Text(figures.instructions, 0, ""),
             Text(figures.cycles, 0, ""), Text(figures.Cpi(), 6, ""));
}

void PrintText(const CpiFigures& figures, bool first, std::FILE* file) {
  if (first)
    fmt::print(file, "{:>10} {:>18} {:>18} {:>8}\n", "SECONDS", "INSTRUCTIONS", "CYCLES", "CPI");
  fmt::print(file, "{:>10.3f} {:>18} {:>18} {:>8}\n", figures.seconds,
             Text(figures.instructions, 0, "-"), Text(figures.cycles, 0, "-"),
             Text(figures.Cpi(), 2, "-"));
}

void Print(const CpiFigures& figures, reports::Format format, bool first, std::FILE* file) {
  switch (format) {
    case reports::Format::kJson:
      PrintJson(figures, file);
      break;
    case reports::Format::kCsv:
      PrintCsv(figures, first, file);
      break;
    default:
      PrintText(figures, first, file);
  }
  std::fflush(file);
}

Result<void> Check(const CpiArguments& arguments, const Command& command) {
  if (!command.empty() && (arguments.pid != 0 || arguments.interval != 0))
    return WrongUse("give either a command, or an --interval (with -p PID or for the machine)");
  if (command.empty() && arguments.interval == 0)
    return WrongUse("give a command after --, or an --interval, e.g. jprof cpi --interval 5");
  return {};
}

Result<record::CpiEvents> Events() {
  const std::string names[] = {"PAPI_TOT_INS", "PAPI_TOT_CYC"};
  const auto metrics = ptm::CheckMetrics(names);
  if (!metrics) return std::unexpected(metrics.error());
  for (const std::string& note : metrics->notes) PrintError(note);
  return record::CpiEvents{*metrics->metrics[0].event, *metrics->metrics[1].event};
}

Result<int> Cpi(const CpiArguments& arguments, const Command& command) {
  const auto format = ChooseFormat(arguments.format);
  if (!format) return std::unexpected(format.error());
  if (auto good = Check(arguments, command); !good) return std::unexpected(good.error());
  const auto events = Events();
  if (!events) return std::unexpected(events.error());
  CountOutput out;
  if (auto opened = out.Open(arguments.out, command.empty() ? stdout : stderr); !opened)
    return std::unexpected(opened.error());
  const auto print = [&, first = true](const CpiFigures& figures) mutable {
    Print(figures, *format, first, out.file());
    first = false;
  };
  if (command.empty()) {
    return record::CountCpiOfIntervals(*events, arguments.pid, arguments.interval, arguments.count,
                                       print);
  }
  const auto program = record::FindProgram(command.front());
  if (!program) return std::unexpected(program.error());
  return record::CountCpiOfCommand(*events, {*program, command, std::nullopt}, print);
}

}  // namespace

Action CpiCommand(CommandLine line, const Command& command) {
  auto arguments = std::make_shared<CpiArguments>();
  line.Footer(kCpiFooter);
  CpiArguments& a = *arguments;
  line.Option("-p,--pid", a.pid, "PID", "Count this process; default: the whole machine")
      .Positive();
  line.Option("--interval", a.interval, "", "Seconds").Between(0.01, 1e6);
  line.Option("--count", a.count, "", "Number of intervals (default 1)").Positive();
  line.Option("--format", a.format, "text|json|csv", "text (default), json or csv");
  line.Option("-o,--output", a.out, "FILE", "File for the figures; - is standard output");
  return [arguments, &command] { return Cpi(*arguments, command); };
}

}  // namespace jprof::cli
