// `jprof ctl`: controls the recording in a running JVM.
#include <fmt/format.h>

#include <charconv>
#include <memory>
#include <string>
#include <vector>

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

Examples:
  jprof ctl                    the JVMs that can be controlled: with samples
  jprof ctl 1234 status        what that one records
  jprof scs --nostart -- java -jar app.jar
  jprof ctl 1234 start         record, once the program has warmed up)";

struct CtlArguments {
  std::string pid, command;
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
  if (pids.empty()) {
    fmt::print(
        "no JVM of this user can be controlled: it must be recorded by jprof scs, or by jprof "
        "calltree --sample\n");
  }
  for (const pid_t pid : pids) {
    const auto status = record::AskJvm(pid, control::Command::kStatus, arguments.timeout);
    fmt::print("{:<8}", pid);
    if (!status) fmt::print(" {}", status.error().message);
    for (const auto& [key, value] : control::SplitFields(status.value_or(""))) {
      fmt::print(" {}={}", key, control::OneLine(value));
    }
    fmt::print("\n");
  }
  return 0;
}

Result<int> Run(const CtlArguments& arguments) {
  if (arguments.command.empty()) {
    if (arguments.pid.empty() || arguments.pid == "list") return List(arguments);
    if (control::CommandOf(arguments.pid)) {
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
              "The JVM's process id; without it, lists the JVMs that can be controlled");
  line.Option("command", arguments->command, "start|stop|flush|reset|status",
              "What to do, see below (default status)");
  line.Option("--timeout", arguments->timeout, "", "Seconds to wait for the answer (default 5)")
      .Between(0.001, 86400.0);
  return [arguments] { return Run(*arguments); };
}

}  // namespace jprof::cli
