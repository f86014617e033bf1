// The `jprof` command: the table of subcommands.
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.h"
#include "cli/usage_error.h"

namespace jprof::cli {
namespace {

struct Subcommand {
  const char* name;
  const char* description;
  Action (*declare)(CLI::App& sub, const Words& command);
};

// In the order of the help.
constexpr Subcommand kSubcommands[] = {
    {"calibrate",
     "Learn the profiler's own cost on this machine and JVM, so that reports can take it out",
     CalibrateCommand},
    {"callflow", "Record calls and metrics of every calling sequence", CallflowCommand},
    {"calltree", "Record calls only: the cheapest", CalltreeCommand},
    {"trace", "Record every entry and exit in order", TraceCommand},
    {"scs", "Sample the stacks of Java threads, by time or at events", ScsCommand},
    {"tprof", "Samples the whole machine, processes or a command; jitted Java by name",
     TprofCommand},
    {"a2n", "Addresses to functions and source lines, like addr2line", A2nCommand},
    {"report", "Prints a report of a profile: log-rt, methods, scs or log-gen", ReportCommand},
    {"compare", "Flat against contextual in one profile, or two profiles with each other",
     CompareCommand},
    {"info", "What a profile is: run, JVM, metrics, counts, losses", InfoCommand},
    {"ctl", "Starts, stops, flushes, resets or asks a recording in a running JVM", CtlCommand},
    {"stat", "Runs a command and counts, thread by thread", StatCommand},
    {"ptt", "Threads and what they count: a process tree, the machine or a command", PttCommand},
    {"cpi", "Cycles per instruction: of a command or an interval", CpiCommand},
    {"events", "What can be counted: list, search, describe", EventsCommand},
    {"metrics", "What this machine can measure and, for what it cannot, why and what to change",
     MetricsCommand},
};

void AddSubcommands(CLI::App& app, const Words& command, int& exit_code) {
  for (const Subcommand& row : kSubcommands) {
    CLI::App* sub = app.add_subcommand(row.name, row.description);
    sub->callback(
        [action = row.declare(*sub, command), &exit_code] { exit_code = ExitStatusOf(action()); });
  }
}

// Removes the words behind the first "--" from argv, because CLI11 would read "[a,b]" among them as
// a list.
Words TakeCommand(int& argc, char** argv) {
  char** end = argv + argc;
  char** mark = std::find(argv, end, std::string_view("--"));
  argc = static_cast<int>(mark - argv);
  return mark == end ? Words() : Words(mark + 1, end);
}

int Main(int argc, char** argv) {
  CLI::App app("jprof: exact call trees of Java programs, with the profiler's own cost taken out",
               "jprof");
  app.set_version_flag("--version", "jprof " JPROF_VERSION);
  app.require_subcommand(0, 1);
  app.footer(
      "Once:  jprof calibrate\nThen:  jprof callflow -- java -jar app.jar\n"
      "       jprof report log-rt app.jprof");
  int exit_code = 0;
  const Words command = TakeCommand(argc, argv);
  AddSubcommands(app, command, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return ReportParseError(app, error);
  } catch (const std::bad_alloc&) {
    PrintError(
        "there is not enough memory for this; free some, raise the limit (ulimit -v), or read it "
        "on another machine");
    return 1;
  } catch (const std::exception& error) {
    PrintError(error.what());
    return 1;
  }
  if (app.get_subcommands().empty()) fmt::print("{}", app.help());
  return exit_code;
}

}  // namespace
}  // namespace jprof::cli

int main(int argc, char** argv) { return jprof::cli::Main(argc, argv); }
