#include "calibrate/train/child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>

#include "common/errno_text.h"

namespace jprof::calibrate {
namespace {

std::vector<char*> CleanEnvironment() {
  std::vector<char*> kept;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    if (name != "JAVA_TOOL_OPTIONS" && name != "JDK_JAVA_OPTIONS" && name != "JPROFOPTS" &&
        name != "JPROF_HOOKS") {
      kept.push_back(*entry);
    }
  }
  kept.push_back(nullptr);
  return kept;
}

Result<pid_t> Spawn(const std::vector<std::string>& argv, const std::filesystem::path& log) {
  std::vector<char*> arguments;
  for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  std::vector<char*> environment = CleanEnvironment();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  posix_spawnattr_t own_group;
  posix_spawnattr_init(&own_group);
  posix_spawnattr_setflags(&own_group, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&own_group, 0);
  pid_t pid = 0;
  const int failed = posix_spawnp(&pid, argv[0].c_str(), &actions, &own_group, arguments.data(),
                                  environment.data());
  posix_spawnattr_destroy(&own_group);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return Fail("cannot run {}: {}", argv[0], ErrnoText(failed));
  return pid;
}

// Returns false if the process was still running at the limit or when `interrupted` returned true.
bool WaitUntilEnd(pid_t pid, std::chrono::seconds limit, const std::function<bool()>& interrupted) {
  constexpr std::chrono::milliseconds kPollInterval{100};
  const auto end = std::chrono::steady_clock::now() + limit;
  while (std::chrono::steady_clock::now() < end && !(interrupted && interrupted())) {
    siginfo_t info = {};  // WNOWAIT: the caller reaps it
    if (waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        info.si_pid == pid)
      return true;
    const int fd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
    pollfd ended{.fd = fd, .events = POLLIN, .revents = 0};
    poll(&ended, 1, static_cast<int>(kPollInterval.count()));  // only waits without pidfds
    if (fd >= 0) close(fd);
  }
  return false;
}

}  // namespace

Result<ChildResult> RunChild(const std::vector<std::string>& argv, const std::filesystem::path& log,
                             std::chrono::seconds limit, const std::function<bool()>& interrupted) {
  const auto pid = Spawn(argv, log);
  if (!pid) return std::unexpected(pid.error());
  const bool ended = WaitUntilEnd(*pid, limit, interrupted);
  if (!ended) kill(-*pid, SIGKILL);
  int status = 0;
  while (waitpid(*pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!ended && interrupted && interrupted()) return Fail("{} was interrupted", argv[0]);
  if (!ended) return Fail("{} did not end within {} s", argv[0], limit.count());
  std::ifstream file(log, std::ios::binary);
  return ChildResult{WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status),
                     {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()}};
}

}  // namespace jprof::calibrate
