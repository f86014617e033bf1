// The `jprof` command: a table of subcommands, nothing else.
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.h"
#include "cli/usage_error.h"

namespace {

// The words behind the first "--", taken off argv: CLI11 would read a "[a,b]" among them as a list.
std::vector<std::string> TakeCommand(int& argc, char** argv) {
  char** end = argv + argc;
  char** mark = std::find(argv, end, std::string_view("--"));
  argc = static_cast<int>(mark - argv);
  return mark == end ? std::vector<std::string>() : std::vector<std::string>(mark + 1, end);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace jprof::cli;
  CLI::App app("jprof: exact call trees of Java programs, with the profiler's own cost taken out",
               "jprof");
  app.set_version_flag("--version", "jprof " JPROF_VERSION);
  app.require_subcommand(0, 1);
  app.footer(
      "Once:  jprof calibrate\nThen:  jprof callflow -- java -jar app.jar\n"
      "       jprof report log-rt app.jprof");

  int exit_code = 0;
  const std::vector<std::string> command = TakeCommand(argc, argv);
  AddCalibrateCommand(app, exit_code);
  AddRecordCommands(app, command, exit_code);
  AddTprofCommand(app, command, exit_code);
  AddA2nCommand(app, exit_code);
  AddReportCommand(app, exit_code);
  AddCompareCommand(app, exit_code);
  AddInfoCommand(app, exit_code);
  AddCtlCommand(app, exit_code);
  AddStatCommand(app, command, exit_code);
  AddPttCommand(app, command, exit_code);
  AddCpiCommand(app, command, exit_code);
  AddEventsCommand(app, exit_code);
  AddMetricsCommand(app, exit_code);
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
