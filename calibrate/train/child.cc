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

namespace jprof::calibrate {
namespace {

std::vector<char*> CleanEnvironment() {
  std::vector<char*> kept;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    if (name != "JAVA_TOOL_OPTIONS" && name != "JDK_JAVA_OPTIONS" && name != "JPROFOPTS") {
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
  pid_t pid = 0;
  const int failed =
      posix_spawnp(&pid, argv[0].c_str(), &actions, nullptr, arguments.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return Fail("cannot run {}: {}", argv[0], std::strerror(failed));
  return pid;
}

// False: still running when the limit was reached.
bool WaitUntilEnd(pid_t pid, std::chrono::seconds limit) {
  const int fd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  if (fd < 0) return true;  // an old kernel: the caller's waitpid waits without a limit
  pollfd ended{.fd = fd, .events = POLLIN, .revents = 0};
  int ready = 0;
  do {
    ready = poll(&ended, 1, static_cast<int>(std::chrono::milliseconds(limit).count()));
  } while (ready < 0 && errno == EINTR);
  close(fd);
  return ready != 0;
}

}  // namespace

Result<ChildResult> RunChild(const std::vector<std::string>& argv, const std::filesystem::path& log,
                             std::chrono::seconds limit) {
  const auto pid = Spawn(argv, log);
  if (!pid) return std::unexpected(pid.error());
  const bool in_time = WaitUntilEnd(*pid, limit);
  if (!in_time) kill(*pid, SIGKILL);
  int status = 0;
  while (waitpid(*pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!in_time) return Fail("{} did not end within {} s", argv[0], limit.count());
  std::ifstream file(log, std::ios::binary);
  return ChildResult{WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status),
                     {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()}};
}

}  // namespace jprof::calibrate
