// `jprof doctor`: checks the machine and its JVMs.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>

#include "cli/commands/doctor_text.h"
#include "cli/fleet/push_checks.h"
#include "cli/shared/choices.h"
#include "cli/shared/commands.h"
#include "cli/shared/json_output.h"
#include "cli/shared/usage_error.h"
#include "fleet/push/spool.h"
#include "record/doctor/doctor_summary.h"
#include "record/run/installation.h"
#include "record/run/status_line.h"
#include "record/run/temporary_folder.h"

namespace jprof::cli {
namespace {

namespace fs = std::filesystem;
using record::DoctorChecks;

constexpr char kDoctorFooter[] =
    R"("ok": it works. "note": it works with a restriction, or a better way is not available. "no": it does
not work. "->" is what to do next. Exit status: 0 if at least one JVM can be profiled, 1 if none.

Each JVM that is found runs `java -version` with the agent; nothing is left behind but the measured
cost of a timer interrupt, which `jprof calibrate --show` prints.

Examples:
  jprof doctor                           all checks, and at the end what works by command
  jprof doctor --java /usr/lib/jvm/jdk   only this JVM
  jprof doctor --format json             for programs)";

struct DoctorArguments {
  std::string java, agent, format = "text";
};

Result<std::vector<record::FoundJvm>> JvmsToTest(const std::string& wanted) {
  if (wanted.empty()) return FindJvms(record::UsualJvmPlaces());
  std::error_code ignored;
  fs::path java = wanted;
  if (fs::is_directory(java, ignored)) java /= "bin/java";
  if (!fs::is_regular_file(java, ignored))
    return WrongUse("--java {}: there is no {}; give a java program, or a JDK's folder", wanted,
                    java.string());
  return std::vector<record::FoundJvm>{{java, "--java"}};
}

Result<record::DoctorFindings> Examine(const DoctorArguments& arguments) {
  const auto jvms = JvmsToTest(arguments.java);
  if (!jvms) return std::unexpected(jvms.error());
  const auto agent = record::FindAgent(arguments.agent);
  if (!agent && !arguments.agent.empty()) return std::unexpected(agent.error());
  record::StatusLine line;
  line.Show("checking the machine");
  record::DoctorFindings found = {.machine = record::ReadDoctorMachine()};
  std::error_code ignored;
  found.trainers = fs::exists(record::TrainersPath(), ignored);
  if (!agent) {
    found.why_no_agent = agent.error().message;
    return found;
  }
  found.agent = agent->string();
  const record::TemporaryFolder work("jprof-doctor");
  if (work.path().empty()) found.why_no_agent = "no temporary folder for tests: set TMPDIR";
  for (const record::FoundJvm& jvm : *jvms) {
    if (work.path().empty()) break;
    line.Show(fmt::format("testing {}", jvm.java.string()));
    found.jvms.push_back(TestJvm(jvm, *agent, work.path()));
  }
  return found;
}

void JsonMember(std::string_view key, const DoctorChecks& checks, reports::JsonWriter& json) {
  json.Key(key);
  json.StartArray();
  for (const record::DoctorCheck& check : checks) {
    json.StartObject();
    json.Member("verdict", VerdictName(check.verdict));
    json.Member("name", check.name.substr(check.name.find_first_not_of(' ')));
    json.Member("detail", check.detail);
    json.Member("remedy", check.remedy);
    json.EndObject();
  }
  json.EndArray();
}

void PrintDoctorText(const DoctorChecks& machine, const DoctorChecks& java,
                     const DoctorChecks& push, const DoctorChecks& summary) {
  fmt::print("Machine\n{}\nJava\n{}\nServers\n{}\nCommands\n{}", DoctorText(machine),
             DoctorText(java), DoctorText(push), DoctorText(summary));
}

Result<int> Doctor(const DoctorArguments& arguments) {
  const auto format = ChooseFormat(arguments.format, kDoctorFormats);
  if (!format) return std::unexpected(format.error());
  const auto found = Examine(arguments);
  if (!found) return std::unexpected(found.error());
  const DoctorChecks machine = CheckMachine(found->machine),
                     java = CheckJava(*found, time(nullptr)),
                     push = CheckPush(fleet::DefaultSpool()), summary = SummaryOf(*found);
  if (*format == reports::Format::kJson) {
    const auto printed = PrintIndentedJson([&](reports::JsonWriter& json) {
      json.StartObject();
      json.Member("jprof", JPROF_VERSION);
      JsonMember("machine", machine, json);
      JsonMember("java", java, json);
      JsonMember("servers", push, json);
      JsonMember("commands", summary, json);
      json.EndObject();
    });
    if (!printed) return std::unexpected(printed.error());
  } else {
    PrintDoctorText(machine, java, push, summary);
    std::fflush(stdout);
    if (CanProfile(*found)) PrintNext("jprof profile -- java -jar app.jar");
  }
  return CanProfile(*found) ? 0 : 1;
}

}  // namespace

Action DoctorCommand(CommandLine line, const Command&) {
  const auto arguments = std::make_shared<DoctorArguments>();
  line.Footer(kDoctorFooter);
  line.Option("--java", arguments->java, "PATH", "Test only this java program, or JDK's folder");
  line.Option("--agent", arguments->agent, "LIB",
              "The agent library (default: JPROF_AGENT, or libjprof.so of this installation)");
  line.Option("--format", arguments->format, "text|json", "text (default) or json");
  return [arguments] { return Doctor(*arguments); };
}

}  // namespace jprof::cli
