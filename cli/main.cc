// Implements the `jprof` command with its table of subcommands.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "cli/shared/commands.h"
#include "cli/shared/unknown_argument.h"
#include "cli/shared/usage_error.h"
#include "cli/start_page.h"

namespace jprof::cli {
namespace {

struct Subcommand {
  const char* group;  // a heading of the help
  const char* name;
  const char* description;
  Action (*declare)(CommandLine line, const Command& command);
};

constexpr char kPrepare[] = "Prepare";
constexpr char kProfile[] = "Profile Java programs";
constexpr char kMeasure[] = "Measure any program";
constexpr char kRead[] = "Read results";
constexpr char kControl[] = "Control running JVMs";
constexpr char kShell[] = "Shell";

// The subcommands in the order of the help.
constexpr Subcommand kSubcommands[] = {
    {kPrepare, "doctor",
     "Checks this machine and its JVMs: what works, what does not, and what to do about it",
     DoctorCommand},
    {kPrepare, "calibrate",
     "Measures the profiler's overhead on this machine and JVM, so that reports can subtract it",
     CalibrateCommand},
    {kProfile, "profile",
     "Runs a program sampled and counted, and reports exact calls with production times",
     ProfileCommand},
    {kProfile, "callflow", "Records calls and metrics of every calling context", CallflowCommand},
    {kProfile, "calltree", "Records calls only, at the lowest overhead", CalltreeCommand},
    {kProfile, "trace", "Records every entry and exit in order", TraceCommand},
    {kProfile, "scs", "Samples the stacks of Java threads, by time or at events", ScsCommand},
    {kMeasure, "tprof",
     "Samples the whole machine, processes or a command, with names of jitted code", TprofCommand},
    {kMeasure, "itrace", "Traces the instructions of threads, exactly and without counters",
     ItraceCommand},
    {kMeasure, "stat", "Runs a command and counts events per thread", StatCommand},
    {kMeasure, "ptt", "Counts events per thread of a process tree, the machine or a command",
     PttCommand},
    {kMeasure, "cpi", "Measures cycles per instruction of a command or an interval", CpiCommand},
    {kMeasure, "events", "Lists, searches and describes the events that can be counted",
     EventsCommand},
    {kMeasure, "metrics", "Lists what this machine can measure, and how to enable the rest",
     MetricsCommand},
    {kRead, "report",
     "Prints a report of a profile: its calling contexts, methods or events, or an HTML page",
     ReportCommand},
    {kRead, "view",
     "Shows a profile as flame graph, trees and tables in the browser: one HTML file", ViewCommand},
    {kRead, "combine",
     "Makes one profile of a counted profile and sampled ones, as `jprof profile` does",
     CombineCommand},
    {kRead, "merge", "Makes one profile of those of several processes, ranks or runs",
     MergeCommand},
    {kRead, "compare", "Compares the flat and the contextual view of a profile, or two profiles",
     CompareCommand},
    {kRead, "export",
     "Writes a profile for other tools: pprof, callgrind, speedscope, Perfetto, SQLite, ...",
     ExportCommand},
    {kRead, "push", "Sends a profile to a server of continuous profiling: Pyroscope or Parca",
     PushCommand},
    {kRead, "info", "Describes a profile: run, JVM, metrics, counts, losses", InfoCommand},
    {kRead, "a2n", "Resolves addresses to functions and source lines, like addr2line", A2nCommand},
    {kControl, "ps", "Lists the JVMs that run", PsCommand},
    {kControl, "detach", "Ends a recording of a running JVM whose command was killed",
     DetachCommand},
    {kControl, "ctl", "Starts, stops, flushes, resets or queries the recording in a running JVM",
     CtlCommand},
    {kShell, "completion", "Prints the completion script for bash, zsh or fish", CompletionCommand},
    {kShell, "man", "Prints the manual page of a command", ManCommand},
};

void AddSubcommands(CLI::App& app, const Command& command, int& exit_code) {
  for (const Subcommand& row : kSubcommands) {
    CLI::App* sub = app.add_subcommand(row.name, row.description)->group(row.group);
    sub->callback([action = row.declare(CommandLine(*sub), command), &exit_code] {
      exit_code = ExitStatusOf(action());
    });
  }
}

// Removes the arguments after the first "--" from argv, because CLI11 would parse an argument like
// "[a,b]" as a list.
Command TakeCommand(int& argc, char** argv) {
  char** end = argv + argc;
  char** mark = std::find(argv, end, std::string_view("--"));
  argc = static_cast<int>(mark - argv);
  return mark == end ? Command() : Command(mark + 1, end);
}

int Main(int argc, char** argv) {
  CLI::App app("jprof: exact call trees of Java programs, with the profiler's overhead subtracted",
               "jprof");
  app.set_version_flag("--version", "jprof " JPROF_VERSION);
  app.require_subcommand(0, 1);
  app.footer(
      "Examples:\n"
      "  jprof doctor                           what works on this machine, and what is missing\n"
      "  jprof calibrate                        once for each JVM\n"
      "  jprof profile -- java -jar app.jar     exact calls and production times of a program\n"
      "  jprof report app.jprof                 its report again\n"
      "  jprof view app.jprof                   as flame graph and tables, in the browser");
  int exit_code = 0;
  const Command command = TakeCommand(argc, argv);
  AddSubcommands(app, command, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return ReportParseError(app, error);
  } catch (const std::bad_alloc&) {
    PrintError("not enough memory; free some, raise the limit (ulimit -v), or use another machine");
    return 1;
  } catch (const std::exception& error) {
    PrintError(error.what());
    return 1;
  }
  if (app.get_subcommands().empty()) PrintStartPage(TreeOf(app));
  return exit_code;
}

}  // namespace
}  // namespace jprof::cli

int main(int argc, char** argv) { return jprof::cli::Main(argc, argv); }
