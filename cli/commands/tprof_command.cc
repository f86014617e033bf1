// `jprof tprof`: samples the time of the whole machine, processes or a command.
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <optional>

#include "cli/shared/choices.h"
#include "cli/shared/commands.h"
#include "cli/shared/pager.h"
#include "cli/shared/report_options.h"
#include "cli/shared/usage_error.h"
#include "options/option_table.h"
#include "ptm/sampling_rate.h"
#include "record/place/recording_summary.h"
#include "record/tprof/tprof_record.h"
#include "reports/ticks/tprof.h"

namespace jprof::cli {
namespace {

namespace fs = std::filesystem;

struct TprofArguments {
  std::optional<CommandLine> line;  // knows which options are given
  record::TprofRequest request;
  std::string from, format = "text";
  reports::TprofOptions report;
  TextChoice text;
};

Result<void> PrintRecording(const fs::path& directory, const TprofArguments& arguments) {
  auto recording = model::OpenRecording(directory);
  if (!recording) return std::unexpected(recording.error());
  const reports::TprofOptions& options = arguments.report;
  Pager pager(options.format == reports::Format::kText && !arguments.text.no_pager);
  reports::Output out([&pager] { return pager.file(); }, reports::ShowsColour(stdout));
  auto printed = reports::PrintTprof(*recording, options, out);
  return printed ? out.Finish() : printed;
}

// Returns the exit status of the command, unless the report fails.
Result<int> RecordAndPrint(const record::TprofPlan& plan, const TprofArguments& arguments) {
  for (const std::string& note : plan.notes) PrintError(note);
  if (plan.duration == 0 && !plan.launch && isatty(STDERR_FILENO))
    PrintError("sampling; Ctrl-C ends it and prints the report");
  const auto status = record::RecordTprof(plan);
  if (!status) return status;
  const int print_status = ExitStatusOf(StatusOf(PrintRecording(plan.out, arguments)));
  const std::string place = record::DisplayPath(plan.out);
  fmt::print(stderr, "jprof: recording: {}\n", place);
  PrintNext("jprof view " + place);
  return print_status != 0 ? print_status : *status;
}

Result<int> Tprof(TprofArguments arguments, const Command& command) {
  const auto format = ChooseFormat(arguments.format, reports::kStackFormats);
  if (!format) return std::unexpected(format.error());
  if (auto fits = CheckTextOptions(*arguments.line, arguments.format); !fits)
    return std::unexpected(fits.error());
  const auto names = arguments.text.Form();
  if (!names) return std::unexpected(names.error());
  arguments.report.format = *format;
  arguments.report.names = *names;
  arguments.report.width = arguments.text.Width();
  if (!arguments.from.empty()) return StatusOf(PrintRecording(arguments.from, arguments));
  const auto plan = record::PlanTprof(arguments.request, command);
  if (!plan) return std::unexpected(plan.error());
  return RecordAndPrint(*plan, arguments);
}

}  // namespace

Action TprofCommand(CommandLine line, const Command& command) {
  auto arguments = std::make_shared<TprofArguments>();
  arguments->line.emplace(line);
  line.Footer(
      "Examples:\n"
      "  jprof tprof -- ./app                           this program, in any language\n"
      "  jprof tprof --duration 10                      the whole machine for 10 s\n"
      "  jprof tprof -p 1234 --duration 10 --clip 1     a running process, rows of 1 % and more\n"
      "  jprof tprof -- java -jar app.jar               Java methods have their names\n"
      "  jprof tprof --rate 1000 -- ./app               "
      "finer; the rate is lowered if interrupts are slow\n"
      "  jprof tprof --chains -- ./app                  with callers, for --callers and view\n"
      "  jprof tprof --from app-tprof.jprof --annotate work    instructions of a function");
  TprofArguments& a = *arguments;
  record::TprofRequest& r = a.request;
  line.Flag("-a,--all", r.all, "Sample the whole machine (default without -p and command)");
  line.Option("-p,--pid", r.pids, "PID", "Sample these processes and their descendants");
  line.Option("--duration", r.duration, "",
              "Seconds to sample (default: until the command ends, or Ctrl-C)")
      .Positive();
  line.Option("--rate", r.rate, "", "Samples per second on each CPU, up to 20000 (default 100)")
      .Between(uint64_t{1}, ptm::kMostRate);
  line.Flag("--chains", r.chains,
            "Record call chains (frame pointers), for --callers and --format collapsed");
  line.Flag("--code", r.code, "Record the instructions of compiled Java methods, for --annotate");
  line.Option("-o,--output", r.out, "DIR", "The recording's directory");
  line.Group("Report");
  line.Option("--from", a.from, "DIR", "Report this recording instead of making one");
  line.Option("--format", a.format, "text|json|csv|collapsed",
              "text (default), json, csv, or collapsed (for flame graphs)");
  line.Option(
          "--clip", a.report.clip, "N",
          "Print all eight tables; rows below N % are summed up (default: one that fits a screen)")
      .Between(0.0, 100.0);
  AddTextOptions(line, a.text);
  line.Flag("--by-line", a.report.by_line, "Print source lines below the functions");
  line.Option("--callers", a.report.callers, "",
              "Print the callers of functions whose names contain this (recorded with --chains)");
  line.Option("--annotate", a.report.annotate, "",
              "Print the instructions of functions whose names contain this, each with its samples "
              "(of Java methods: recorded with --code)")
      .Excludes("--callers");
  line.Group(options::kRarelyNeeded);
  line.Option("--delay", r.delay, "", "Seconds before sampling begins").NotNegative();
  line.Option("--event", r.event, "NAME",
              "Sample by this event instead of time (PAPI or perf name)");
  line.Option("--period", r.period, "", "Events per sample").Positive();
  line.Flag("--force-rate", r.force_rate,
            "Keep the rate even if interrupts take more than a fifth of the time");
  line.Flag("--children", r.children,
            "Name the compiled methods of every JVM that the command starts");
  line.Flag(
      "--attach", [&r] { r.attach = true; },
      "Attach to sampled JVMs that run already, so that their compiled methods have names "
      "(default with -p only)");
  line.Flag(
      "--no-attach", [&r] { r.attach = false; }, "With -p: leave these JVMs alone");
  line.Option("--agent", r.agent, "LIB",
              "The agent library (default: JPROF_AGENT, or libjprof.so of this installation)");
  return [arguments, &command] { return Tprof(*arguments, command); };
}

}  // namespace jprof::cli
