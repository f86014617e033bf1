// `jprof detach`: ends a recording whose client was killed.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>

#include "cli/shared/commands.h"
#include "cli/shared/process_id.h"
#include "cli/shared/usage_error.h"
#include "common/procfs.h"
#include "options/java_program.h"
#include "record/attach/attached_agent.h"
#include "record/place/profile_place.h"
#include "record/place/recording_summary.h"
#include "record/run/interruption.h"

namespace jprof::cli {
namespace {

namespace fs = std::filesystem;

constexpr char kDetachFooter[] =
    R"(Ends a recording that `jprof scs --pid PID` or another command began and could not end, because it
was killed. The program continues without being profiled.

Examples:
  jprof detach 1234     ends the recording in this JVM
  jprof ps              shows which JVMs have the agent)";

// Moves a profile that was recorded for another mount namespace into the working directory.
Result<int> Detach(const std::string& text) {
  const auto pid = ParsePid(text, "jprof ps");
  if (!pid) return std::unexpected(pid.error());
  const auto target = record::FindTarget(*pid);
  if (!target) return std::unexpected(target.error());
  const auto command = procfs::CommandLine(*pid);
  const std::string name = command.empty() ? "java" : options::ProfileName(command);
  const record::Interruption guard;
  const auto profile = record::DetachAgent(*target, fs::absolute(record::FreePlace(name)));
  if (!profile) return std::unexpected(profile.error());
  fmt::print(stderr, "jprof: process {} is not recorded any more\n", *pid);
  if (profile->empty() || !record::IsProfile(*profile)) return 0;
  fmt::print(stderr, "jprof: profile: {} ({})\n", record::DisplayPath(*profile),
             record::SummaryLine(*profile));
  return 0;
}

}  // namespace

Action DetachCommand(CommandLine line, const Command&) {
  auto pid = std::make_shared<std::string>();
  line.Footer(kDetachFooter);
  line.Option("pid", *pid, "PID", "The JVM's process id").Required();
  return [pid] { return Detach(*pid); };
}

}  // namespace jprof::cli
