#include "record/run/installation.h"

#include <cstdlib>

#include "common/procfs.h"
#include "options/tool_options.h"

namespace jprof::record {

namespace fs = std::filesystem;

fs::path InstallationRoot() {
  std::error_code failed;
  return fs::read_symlink(procfs::Directory(procfs::kSelf) + "/exe", failed)
      .parent_path()
      .parent_path();
}

fs::path LibraryPath(const std::string& name) {
  const fs::path libraries = InstallationRoot() / "lib";
  const fs::path installed = libraries / "jprof" / name;
  std::error_code failed;
  return fs::exists(installed, failed) ? installed : libraries / name;
}

fs::path TrainersPath() { return InstallationRoot() / "share" / "jprof" / "trainers.jar"; }

Result<fs::path> FindAgent(const std::string& option) {
  const char* variable = std::getenv("JPROF_AGENT");
  const std::string given = option.empty() && variable != nullptr ? variable : option;
  const fs::path agent = given.empty() ? LibraryPath(options::kAgentLibrary) : fs::path(given);
  std::error_code failed;
  if (fs::is_regular_file(agent, failed)) return fs::absolute(agent);
  const bool missing = !failed || failed == std::errc::no_such_file_or_directory ||
                       failed == std::errc::not_a_directory;
  if (!missing) {
    return Fail("the agent library {} cannot be read: {}; nothing was started", agent.string(),
                failed.message());
  }
  return WrongUse("there is no agent library {}; {}; nothing was started", agent.string(),
                  given.empty() ? "reinstall jprof, or name the library with --agent"
                                : "see --agent and JPROF_AGENT");
}

}  // namespace jprof::record
