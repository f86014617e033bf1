#include "jprof/agent/profile_directory.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "common/errno_text.h"

namespace jprof::agent {

Result<std::string> MakeProfileDirectory(const AgentOptions& options) {
  const std::string pid = std::to_string(getpid());
  std::string path = options.out.empty() ? "jprof-" + pid + ".jprof" : options.out;
  if (mkdir(path.c_str(), 0755) == 0) return path;
  if (errno == EEXIST && options.children && !options.out.empty()) {
    path += "." + pid;
    if (mkdir(path.c_str(), 0755) == 0) return path;
  } else if (errno == EEXIST && options.only_if_free && !options.out.empty()) {
    return "";
  }
  return Fail("cannot make the profile directory {}: {}", path, ErrnoText());
}

}  // namespace jprof::agent
