#include "cli/start_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "calibrate/store/table_store.h"
#include "cli/shared/profile_source.h"
#include "record/place/recording_summary.h"

namespace jprof::cli {
namespace {

constexpr char kFirstCommands[] = R"(
First:
  jprof doctor                         what works on this machine, and how to get the rest
  jprof calibrate                      once for each JVM: what profiling costs, to be subtracted
  jprof profile -- java -jar app.jar   runs the program three times, prints its call tree

Commands:
)";

constexpr char kMoreHelp[] = R"(Help: jprof --help, jprof COMMAND --help, man jprof
)";

std::string Situation(const StartValues& values) {
  std::string text;
  if (values.tables == 0)
    text += "No calibration table yet: run jprof calibrate, or jprof profile, which needs none\n";
  if (!values.profile.empty())
    text += fmt::format("Newest profile here: jprof report {0}, jprof view {0}\n", values.profile);
  return text;
}

}  // namespace

std::vector<std::string> GroupLines(const CommandNode& root) {
  std::vector<std::pair<std::string, std::string>> groups;
  for (const CommandNode& command : root.commands) {
    auto found =
        std::ranges::find(groups, command.group, &std::pair<std::string, std::string>::first);
    if (found == groups.end()) found = groups.insert(groups.end(), {command.group, ""});
    found->second += (found->second.empty() ? "" : ", ") + command.name;
  }
  std::vector<std::string> lines;
  for (const auto& [group, names] : groups) lines.push_back(fmt::format("{:<23}{}", group, names));
  return lines;
}

std::string StartPage(const CommandNode& root, const StartValues& values) {
  std::string text = root.description + "\n" + kFirstCommands;
  for (const std::string& line : GroupLines(root)) text += "  " + line + "\n";
  return text + "\n" + Situation(values) + kMoreHelp;
}

void PrintStartPage(const CommandNode& root) {
  const std::string profile = FindNewestProfile(/*combined=*/true);
  const StartValues values = {.tables = calibrate::StoredTables().size(),
                              .profile = profile.empty() ? "" : record::DisplayPath(profile)};
  fmt::print("{}", StartPage(root, values));
}

}  // namespace jprof::cli
