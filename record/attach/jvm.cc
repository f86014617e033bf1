#include "record/attach/jvm.h"

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>

#include "common/fd.h"
#include "options/tool_options.h"
#include "record/run/musl.h"
#include "record/run/scoped_user.h"
#include "record/run/small_file.h"

namespace jprof::record {
namespace {

namespace fs = std::filesystem;

// Returns the path below the root directory, without the mark of a removed file (an update of the
// JDK, for example, removes files).
std::string_view PathOf(const procfs::Mapping& mapping, std::string_view root) {
  constexpr std::string_view kDeleted = " (deleted)";
  std::string_view path = mapping.path;
  if (path.ends_with(kDeleted)) path.remove_suffix(kDeleted.size());
  if (root.size() > 1 && path.starts_with(root) && path.substr(root.size()).starts_with('/'))
    path.remove_prefix(root.size());
  return path;
}

bool IsNamed(std::string_view path, std::string_view name) {
  return path.ends_with(name) && path.substr(0, path.size() - name.size()).ends_with('/');
}

// Reads the version from HOME/release. The library is HOME/lib/server/libjvm.so or, in JDK 8,
// HOME/jre/lib/ARCHITECTURE/server/libjvm.so. Reads with the rights of the process's user, who may
// have made links and mounts there.
std::string ReadVersion(uint32_t pid, UserIds ids, const fs::path& library) {
  const Fd opened(
      open((procfs::Directory(pid) + "/root").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  const ScopedUser user(ids);
  const fs::path root = procfs::DescriptorPath(opened.get());
  fs::path home = library.parent_path().parent_path();
  for (int up = 0; up < 3; ++up) {
    home = home.parent_path();
    const fs::path file = root / home.relative_path() / "release";
    if (std::string version = VersionOf(ReadSmallFile(file)); !version.empty()) return version;
  }
  return "";
}

}  // namespace

std::string RootOf(uint32_t pid) {
  std::error_code failed;
  return fs::read_symlink(procfs::Directory(pid) + "/root", failed);
}

JvmMappings FindMappings(const std::vector<procfs::Mapping>& maps, std::string_view root) {
  JvmMappings found;
  for (const procfs::Mapping& mapping : maps) {
    const std::string_view path = PathOf(mapping, root);
    if (IsNamed(path, "libjvm.so")) found.libjvm = path;
    if (path.contains("/libj9vm")) found.openj9 = true;
    if (IsNamed(path, options::kAgentLibrary) && mapping.offset == 0) {
      found.agents.push_back(mapping);
      found.agents.back().path = path;
    }
    if (IsMusl(path)) found.musl = path;
  }
  return found;
}

bool IsJvm(uint32_t pid) {
  const auto maps = procfs::ReadMaps(pid);
  return maps && !FindMappings(*maps, RootOf(pid)).libjvm.empty();
}

std::vector<Jvm> RunningJvms() {
  std::vector<Jvm> jvms;
  for (const uint32_t pid : procfs::Processes()) {
    const procfs::Status status = procfs::ReadStatus(pid);
    if (!status.user || (geteuid() != 0 && *status.user != geteuid())) continue;
    const auto maps = procfs::ReadMaps(pid);
    if (!maps) continue;
    const JvmMappings found = FindMappings(*maps, RootOf(pid));
    if (found.libjvm.empty()) continue;
    jvms.push_back({.pid = pid,
                    .user = *status.user,
                    .version = ReadVersion(pid, {*status.user, status.group}, found.libjvm),
                    .times = procfs::ReadTimes(pid).value_or(procfs::Times{}),
                    .command = procfs::CommandLine(pid),
                    .has_agent = !found.agents.empty()});
  }
  return jvms;
}

std::string VersionOf(std::string_view release) {
  constexpr std::string_view kName = "JAVA_VERSION=\"";
  const size_t start = release.starts_with(kName) ? 0 : release.find("\nJAVA_VERSION=\"");
  if (start == release.npos) return "";
  release.remove_prefix(release.find('"', start) + 1);
  const size_t end = release.find_first_of("\"\n");
  return end == release.npos ? "" : std::string(release.substr(0, end));
}

}  // namespace jprof::record
