// `jprof ctl`: controls the recording in a running JVM, and the events of a running program.
#include <fmt/format.h>

#include <charconv>
#include <memory>
#include <string>
#include <vector>

#include "cli/events/control.h"
#include "cli/shared/commands.h"
#include "record/attach/control_client.h"

namespace jprof::cli {
namespace {

constexpr char kCtlFooter[] = R"(Commands:
  start    record from now on
  stop     pause: nothing is recorded until the next start
  flush    have everything recorded so far on the disk, should the machine crash
  reset    forget what was recorded so far
  status   what is recorded, and how much of it
  events   the levels of the events that the program writes, see docs/EVENTS.md; PATTERN=LEVEL
           changes them: off, statistics, log or log+statistics; `reset` begins statistics again

Examples:
  jprof ctl                    the JVMs that can be controlled: with samples, or --nostart
  jprof ctl 1234 status        what that one records
  jprof scs --nostart -- java -jar app.jar
  jprof ctl 1234 start         record, once the program has warmed up
  jprof ctl 1234 events        which events a program has, and their levels
  jprof ctl 1234 events 'shop::*=log' 'shop::stock::*=off'
  jprof ctl shop-trace events reset
                               the program by the directory of its trace)";

struct CtlArguments {
  std::string pid, command;
  std::vector<std::string> changes;
  double timeout = 5;
};

Result<pid_t> PidOf(const std::string& text) {
  pid_t pid = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, pid);
  if (error == std::errc() && rest == end && pid > 0) return pid;
  return WrongUse("'{}' is not a process id; `jprof ctl` lists those that can be controlled", text);
}

void PrintFields(const std::string& answer) {
  for (const auto& [key, value] : control::SplitFields(answer)) {
    fmt::print("{:<10} {}\n", key + ":", control::OneLine(value));
  }
}

Result<int> Control(const CtlArguments& arguments) {
  if (arguments.command == "events")
    return ControlEvents(arguments.pid, arguments.changes, arguments.timeout);
  if (!arguments.changes.empty())
    return WrongUse("'{}' is one argument too many; only `jprof ctl PID events` takes more",
                    arguments.changes.front());
  const auto pid = PidOf(arguments.pid);
  if (!pid) return std::unexpected(pid.error());
  const auto command = control::CommandOf(arguments.command.empty() ? "status" : arguments.command);
  if (!command) return std::unexpected(command.error());
  const auto answer = record::AskJvm(*pid, *command, arguments.timeout);
  if (!answer) return std::unexpected(answer.error());
  if (*command == control::Command::kStatus) {
    PrintFields(*answer);
  } else {
    fmt::print("{}\n", *answer);
  }
  return 0;
}

// Prints one line per JVM: its recording, or why it does not reply.
Result<int> List(const CtlArguments& arguments) {
  const std::vector<pid_t> pids = record::ListeningJvms();
  for (const pid_t pid : pids) {
    const auto status = record::AskJvm(pid, control::Command::kStatus, arguments.timeout);
    fmt::print("{:<8}", pid);
    if (!status) fmt::print(" {}", status.error().message);
    for (const auto& [key, value] : control::SplitFields(status.value_or(""))) {
      fmt::print(" {}={}", key, control::OneLine(value));
    }
    fmt::print("\n");
  }
  if (ListLiveTraces() + pids.size() == 0) {
    fmt::print(
        "no program of this user can be controlled: a JVM must be recorded by jprof scs, or by "
        "jprof calltree --sample, or a program must write events\n");
  }
  return 0;
}

Result<int> Run(const CtlArguments& arguments) {
  if (arguments.command.empty()) {
    if (arguments.pid.empty() || arguments.pid == "list") return List(arguments);
    if (control::CommandOf(arguments.pid) || arguments.pid == "events") {
      return WrongUse(
          "{0} requires a process: jprof ctl PID {0}; `jprof ctl` lists those that can be "
          "controlled",
          arguments.pid);
    }
  }
  return Control(arguments);
}

}  // namespace

Action CtlCommand(CommandLine line, const Command&) {
  auto arguments = std::make_shared<CtlArguments>();
  line.Footer(kCtlFooter);
  line.Option("pid", arguments->pid, "PID",
              "The process id, or the directory of a trace of events; without it, lists what can "
              "be controlled");
  line.Option("command", arguments->command, "start|stop|flush|reset|status|events",
              "What to do, see below (default status)");
  line.Option("changes", arguments->changes, "",
              "After events: PATTERN=LEVEL, or reset; without it, lists the levels")
      .SeveralValues();
  line.Option("--timeout", arguments->timeout, "", "Seconds to wait for the answer (default 5)")
      .Between(0.001, 86400.0);
  return [arguments] { return Run(*arguments); };
}

}  // namespace jprof::cli
