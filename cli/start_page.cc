#include "cli/start_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "cli/shared/profile_source.h"
#include "record/place/recording_summary.h"

namespace jprof::cli {
namespace {

constexpr char kQuestions[] = R"(
My Java program is slow       jprof profile -- java -jar app.jar
A build or test is slow       jprof profile -- mvn test
A server that runs is slow    jprof ps, then jprof scs --pid PID --duration 30
My C or C++ program is slow   jprof tprof -- ./app
The whole machine is busy     jprof tprof --duration 10
What became slower?           jprof compare before.jprof after.jprof
Show me a result              jprof report app.jprof, jprof view app.jprof
What works on this machine?   jprof doctor

All commands:
)";

constexpr char kMoreHelp[] = R"(Help: jprof --help, jprof COMMAND --help, man jprof
)";

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

std::string StartPage(const CommandNode& root, const std::string& newest_profile) {
  std::string text = root.description + "\n" + kQuestions;
  for (const std::string& line : GroupLines(root)) text += "  " + line + "\n";
  text += "\n";
  if (!newest_profile.empty())
    text += fmt::format("Newest profile here: jprof report {0}, jprof view {0}\n", newest_profile);
  return text + kMoreHelp;
}

void PrintStartPage(const CommandNode& root) {
  const std::string profile = FindNewestProfile(/*combined=*/true);
  fmt::print("{}", StartPage(root, profile.empty() ? "" : record::DisplayPath(profile)));
}

}  // namespace jprof::cli
