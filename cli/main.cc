// Implements the `jprof` command with its table of subcommands.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "cli/shared/command_tree.h"
#include "cli/shared/commands.h"
#include "cli/shared/unknown_argument.h"
#include "cli/shared/usage_error.h"
#include "cli/shell/help_text.h"
#include "cli/start_page.h"

namespace jprof::cli {
namespace {

struct Subcommand {
  const char* group;  // a heading of the help
  const char* name;
  const char* description;
  Action (*declare)(CommandLine line, const Command& command);
};

constexpr char kProfile[] = "Profile Java and C++";
constexpr char kRead[] = "Read results";
constexpr char kMeasure[] = "Measure any program";
constexpr char kPrepare[] = "Prepare";
constexpr char kControl[] = "Control running JVMs";
constexpr char kShell[] = "Shell";

// The subcommands in the order of the help.
constexpr Subcommand kSubcommands[] = {
    {kProfile, "profile",
     "Runs a Java program three times, and prints where its time goes, how often everything is "
     "called, and by whom",
     ProfileCommand},
    {kProfile, "scs",
     "Samples what the threads of a JVM do, also of one that runs: where they spend time, allocate "
     "or wait",
     ScsCommand},
    {kProfile, "calltree", "Counts every call of Java or C++ by caller; fast, without times",
     CalltreeCommand},
    {kProfile, "callflow",
     "Measures every call of Java or C++ by caller: time, cycles, cache misses; after `jprof "
     "calibrate`",
     CallflowCommand},
    {kProfile, "locks",
     "Counts every lock of Java or C++: who takes it how often, who waits for whom, which orders "
     "can deadlock",
     LocksCommand},
    {kProfile, "trace", "Records every call and return of Java or C++ in order", TraceCommand},
    {kProfile, "timeline",
     "Records when each thread ran on which processor, in which calling context it stopped, and "
     "why it waited",
     TimelineCommand},
    {kProfile, "scale",
     "Runs a Java program with inputs of several sizes, and prints by which power of the size its "
     "calls and times grow",
     ScaleCommand},
    {kProfile, "heap",
     "Shows what holds the memory of a JVM that runs or of a heap dump: classes, objects, suspects "
     "of leaks, paths",
     HeapCommand},
    {kProfile, "objects",
     "Counts every allocated object of a Java program by class and caller, exactly",
     ObjectsCommand},
    {kRead, "report", "Prints a result as text: calls and times by caller, or by method",
     ReportCommand},
    {kRead, "view", "Shows a result in the browser: flame graph, trees and tables in one HTML file",
     ViewCommand},
    {kRead, "compare", "Shows what became slower or faster between two results, and what is noise",
     CompareCommand},
    {kRead, "info", "Describes a result: program, JVM, what was recorded, what was lost",
     InfoCommand},
    {kRead, "merge", "Adds up the results of several processes or runs", MergeCommand},
    {kRead, "combine",
     "Joins results of calltree and of scs into one, as `jprof profile` does for a program that "
     "can run again",
     CombineCommand},
    {kRead, "import",
     "Makes profiles of what JFR, async-profiler, perf and others have recorded: JFR, pprof, "
     "collapsed stacks, perf script",
     ImportCommand},
    {kRead, "export",
     "Writes a result for other tools: pprof, callgrind, speedscope, Perfetto, SQLite and others",
     ExportCommand},
    {kRead, "push",
     "Sends results to a server of continuous profiling, or to the database of a fleet",
     PushCommand},
    {kRead, "fleet",
     "Asks the database of many machines' results: what is hottest, what changed, who deviates",
     FleetCommand},
    {kRead, "mcp",
     "Answers assistants about results, by the Model Context Protocol on standard input and output",
     McpCommand},
    {kMeasure, "tprof",
     "Samples the whole machine, processes or a command: which programs, libraries and functions "
     "use the CPUs",
     TprofCommand},
    {kMeasure, "system-trace",
     "Records what the whole machine does: dispatches, interrupts, processes, page faults, system "
     "calls",
     SystemTraceCommand},
    {kMeasure, "itrace", "Counts every instruction of a program exactly, by function and caller",
     ItraceCommand},
    {kMeasure, "optimize",
     "Runs a program, measured or with what is predicted to help it, and keeps what does",
     OptimizeCommand},
    {kMeasure, "stat", "Runs a command and counts CPU time, page faults, cycles, ... by thread",
     StatCommand},
    {kMeasure, "ptt",
     "Counts CPU time, page faults, cycles, ... of running processes or the machine, by thread",
     PttCommand},
    {kMeasure, "cpi", "Measures cycles per instruction of a command or the machine", CpiCommand},
    {kMeasure, "msr", "Reads model-specific registers of x86 processors", MsrCommand},
    {kMeasure, "metrics", "Lists what this machine can measure, and how to enable the rest",
     MetricsCommand},
    {kMeasure, "events",
     "Lists the events that can be counted; generates code by which programs write events",
     EventsCommand},
    {kMeasure, "a2n", "Names the function and source line at an address, like addr2line",
     A2nCommand},
    {kPrepare, "doctor",
     "Checks what works on this machine and with its JVMs, and how to get the rest", DoctorCommand},
    {kPrepare, "calibrate",
     "Measures what recording a call costs here, so that callflow can subtract it",
     CalibrateCommand},
    {kControl, "ps", "Lists the JVMs that run", PsCommand},
    {kControl, "ctl", "Controls the recording in a running JVM, or the events of a running program",
     CtlCommand},
    {kControl, "detach", "Ends a recording of a running JVM whose command was killed",
     DetachCommand},
    {kShell, "completion", "Prints the completion script for bash, zsh or fish", CompletionCommand},
    {kShell, "man", "Prints the manual page of a command", ManCommand},
};

// Prints the help of a command from the same data as its manual page.
std::string Help(const CLI::App* app, const std::string&, CLI::AppFormatMode) {
  return HelpText(TreeOf(*app));
}

constexpr char kExamples[] = R"(Examples:
  jprof profile -- java -jar app.jar     where the time of a Java program goes
  jprof view app.jprof                   the result in the browser
  jprof scs --pid 1234 --duration 30     a JVM that runs; `jprof ps` lists them
  jprof tprof -- ./app                   a program in any language
  jprof compare old.jprof new.jprof      what became slower
  jprof doctor                           what works on this machine)";

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
  CLI::App app("jprof: shows where Java and C++ programs spend their time, and who calls what",
               "jprof");
  app.set_help_flag("-h,--help", "print this help");
  app.set_version_flag("--version", "jprof " JPROF_VERSION, "print the version");
  app.require_subcommand(0, 1);
  app.formatter_fn(Help);
  int exit_code = 0;
  const Command command = TakeCommand(argc, argv);
  AddSubcommands(app, command, exit_code);
  app.footer(kExamples);  // the commands would inherit it
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
  if (!app.get_subcommands().empty()) return exit_code;
  if (command.empty()) {
    PrintStartPage(TreeOf(app));
    return 0;
  }
  PrintError("name a command before the --: jprof profile -- " + command.front() + " ...");
  return 2;
}

}  // namespace
}  // namespace jprof::cli

int main(int argc, char** argv) { return jprof::cli::Main(argc, argv); }
