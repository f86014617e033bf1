// `jprof ps`: lists the JVMs that run.
#include <fmt/ranges.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "cli/shared/choices.h"
#include "cli/shared/commands.h"
#include "cli/shared/json_output.h"
#include "cli/shared/usage_error.h"
#include "common/control_protocol.h"
#include "options/java_program.h"
#include "record/attach/jvm.h"

namespace jprof::cli {
namespace {

using record::Jvm;

constexpr char kPsFooter[] = R"(Columns:
  UPTIME   since the start of the JVM: [DAYS-]HOURS:MINUTES:SECONDS
  CPU      CPU time of all threads, in seconds
  AGENT    yes: the library of jprof is loaded, by a command or since it was attached once
  COMMAND  main class, module or jar, and its arguments

Examples:
  jprof ps                          the JVMs of this user; for root, of all users
  jprof ps --format json
  jprof scs --pid 1234 --duration 30    samples one of them)";

std::string UserName(uid_t user) {
  const passwd* entry = getpwuid(user);
  return entry != nullptr ? entry->pw_name : std::to_string(user);
}

std::string UptimeText(double seconds) {
  const auto whole = static_cast<uint64_t>(seconds);
  const uint64_t days = whole / 86400;
  const std::string time =
      fmt::format("{:02}:{:02}:{:02}", whole / 3600 % 24, whole / 60 % 60, whole % 60);
  return days == 0 ? time : fmt::format("{}-{}", days, time);
}

using Row = std::vector<std::string>;

Row RowOf(const Jvm& jvm) {
  return {std::to_string(jvm.pid),
          UserName(jvm.user),
          jvm.version.empty() ? "?" : control::OneLine(jvm.version),
          UptimeText(jvm.times.running),
          fmt::format("{:.1f}", jvm.times.cpu),
          jvm.has_agent ? "yes" : "-",
          control::OneLine(options::CommandText(jvm.command))};
}

// Prints a table with numbers to the right. The last column has no width.
void PrintTable(const std::vector<Jvm>& jvms) {
  std::vector<Row> rows = {{"PID", "USER", "JDK", "UPTIME", "CPU", "AGENT", "COMMAND"}};
  std::ranges::transform(jvms, std::back_inserter(rows), RowOf);
  std::vector<size_t> widths(rows.front().size());
  for (const Row& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  const auto is_number = [](size_t column) { return column == 0 || column == 3 || column == 4; };
  for (const Row& row : rows) {
    for (size_t i = 0; i + 1 < row.size(); ++i) {
      fmt::print(fmt::runtime(is_number(i) ? "{:>{}}  " : "{:<{}}  "), row[i], widths[i]);
    }
    fmt::print("{}\n", row.back());
  }
}

Result<void> PrintJson(const std::vector<Jvm>& jvms) {
  return PrintIndentedJson([&](reports::JsonWriter& json) {
    json.StartObject();
    json.Key("jvms");
    json.StartArray();
    for (const Jvm& jvm : jvms) {
      json.StartObject();
      json.Member("pid", jvm.pid);
      json.Member("user", UserName(jvm.user));
      json.Member("jdk", jvm.version);
      DecimalMember("uptime_s", jvm.times.running, json);
      DecimalMember("cpu_s", jvm.times.cpu, json);
      json.Member("agent", jvm.has_agent);
      json.StringsMember("command", jvm.command);
      json.EndObject();
    }
    json.EndArray();
    json.EndObject();
  });
}

Result<int> List(const std::string& format) {
  const auto chosen = Choose("--format", format, {"text", "json"});
  if (!chosen) return std::unexpected(chosen.error());
  const std::vector<Jvm> jvms = record::RunningJvms();
  if (*chosen == 1) return StatusOf(PrintJson(jvms));
  if (jvms.empty()) {
    fmt::print("no JVM of {} runs\n", geteuid() == 0 ? "any user" : "this user");
  } else {
    PrintTable(jvms);
  }
  return 0;
}

}  // namespace

Action PsCommand(CommandLine line, const Command&) {
  auto format = std::make_shared<std::string>("text");
  line.Footer(kPsFooter);
  line.Option("--format", *format, "text|json", "text (default) or json");
  return [format] { return List(*format); };
}

}  // namespace jprof::cli
