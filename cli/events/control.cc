#include "cli/events/control.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/shared/process_id.h"
#include "events/control/client.h"

namespace jprof::cli {
namespace {

// A directory is named as such, a process by a number.
Result<std::string> DirectoryOf(const std::string& program) {
  if (program.find_first_not_of("0123456789") != program.npos) return program;
  const auto pid = ParsePid(program, "jprof ctl");
  if (!pid) return std::unexpected(pid.error());
  const auto traces = events::LiveTraces(*pid);
  if (traces.size() == 1) return traces.front().directory;
  if (traces.size() > 1)
    return WrongUse("process {} writes several traces: use jprof ctl {} events, or {}", *pid,
                    traces[0].directory, traces[1].directory);
  return WrongUse(
      "process {0} has no open trace of events that can be controlled; `jprof ctl` lists those, "
      "and `jprof ctl TRACE events` finds one with a long path",
      *pid);
}

Result<int> List(const std::string& directory, double timeout) {
  const auto levels = events::ListLevels(directory, timeout);
  if (!levels) return std::unexpected(levels.error());
  size_t width = 5;
  for (const events::EventLevel& one : *levels) width = std::max(width, one.name.size());
  fmt::print("{:<{}}  VERSION  LEVEL\n", "EVENT", width);
  for (const events::EventLevel& one : *levels)
    fmt::print("{:<{}}  {:>7}  {}\n", one.name, width, one.version, events::LevelName(one.level));
  return 0;
}

Result<int> Set(const std::string& directory, const std::vector<events::NewLevel>& levels,
                double timeout) {
  const auto counts = events::SetLevels(directory, levels, timeout);
  if (!counts) return std::unexpected(counts.error());
  for (size_t i = 0; i < levels.size(); ++i) {
    if ((*counts)[i] == 0)
      return WrongUse("no event of {0} has the name '{1}'; `jprof ctl {0} events` lists them",
                      directory, levels[i].pattern);
    fmt::print("{}: {} {}\n", levels[i].pattern, (*counts)[i], events::LevelName(levels[i].level));
  }
  return 0;
}

}  // namespace

Result<int> ControlEvents(const std::string& program, const std::vector<std::string>& changes,
                          double timeout) {
  const bool reset = std::ranges::find(changes, "reset") != changes.end();
  std::vector<events::NewLevel> levels;
  for (const std::string& change : changes) {
    if (change == "reset") continue;
    const auto level = events::ParseNewLevel(change);
    if (!level) return std::unexpected(level.error());
    levels.push_back(*level);
  }
  const auto directory = DirectoryOf(program);
  if (!directory) return std::unexpected(directory.error());
  if (changes.empty()) return List(*directory, timeout);
  if (reset) {
    const auto done = events::ResetStatistics(*directory, timeout);
    if (!done) return std::unexpected(done.error());
    fmt::print("statistics begin again\n");
  }
  return levels.empty() ? Result<int>(0) : Set(*directory, levels, timeout);
}

size_t ListLiveTraces() {
  const auto traces = events::LiveTraces(0);
  for (const events::LiveTrace& one : traces)
    fmt::print("{:<8} events={}\n", one.pid, one.directory);
  return traces.size();
}

}  // namespace jprof::cli
