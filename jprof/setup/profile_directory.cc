#include "jprof/setup/profile_directory.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "common/errno_text.h"
#include "common/private_file.h"
#include "common/procfs.h"
#include "options/java_program.h"
#include "profile/files/layout.h"

namespace jprof::setup {
namespace {

constexpr size_t kMostName = 100;
constexpr int kMostOfOnePid = 100;  // one process may execute a JVM several times

bool MakeDirectory(const std::string& path) { return mkdir(path.c_str(), kPrivateDirectory) == 0; }

std::unexpected<Error> CannotMake(const std::string& path) {
  return Fail("cannot make the profile directory {}: {}", path, ErrnoText());
}

// Returns the program's name as part of a file name.
std::string FileName(const std::vector<std::string>& command) {
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+$";
  std::string name = options::ProfileName(command).substr(0, kMostName);
  std::ranges::replace_if(
      name, [&](char c) { return !kAllowed.contains(c); }, '_');
  return name.empty() || name.front() == '.' ? "jvm" + name : name;
}

// Makes a directory in OUT, which has a profile of each JVM. Fails if OUT is a profile already:
// then the command has ended, and its only profile has the name OUT.
Result<std::string> MakeOneOfSeveral(const options::AgentOptions& options) {
  const auto command = procfs::CommandLine(procfs::kSelf);
  if (options::OnlyAsksTheVm(command)) return "";
  if (!MakeDirectory(options.out) && errno != EEXIST) return CannotMake(options.out);
  if (access((options.out + "/" + profile::kControlFile).c_str(), F_OK) == 0) {
    errno = EEXIST;
    return CannotMake(options.out);
  }
  const std::string first = options.out + "/" + FileName(command) + "-" + std::to_string(getpid());
  std::string path = first;
  for (int number = 2; number <= kMostOfOnePid; ++number) {
    if (MakeDirectory(path)) return path;
    if (errno != EEXIST) break;
    path = first + "-" + std::to_string(number);
  }
  return CannotMake(path);
}

}  // namespace

Result<std::string> MakeProfileDirectory(const options::AgentOptions& options) {
  const bool named = !options.out.empty();
  if (named && options.children == options::Children::kAll) return MakeOneOfSeveral(options);
  const bool first = options.children == options::Children::kFirst;
  if (first && options::OnlyAsksTheVm(procfs::CommandLine(procfs::kSelf))) return "";
  const std::string path = named ? options.out : "jprof-" + std::to_string(getpid()) + ".jprof";
  if (MakeDirectory(path)) return path;
  if (errno == EEXIST && named && (first || options.only_if_free)) return "";
  return CannotMake(path);
}

std::string FullPath(const std::string& path) {
  char* full = realpath(path.c_str(), nullptr);
  std::string result = full != nullptr ? full : path;
  free(full);
  return result;
}

}  // namespace jprof::setup
