#include "record/attach/attach_target.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <initializer_list>
#include <utility>

#include "common/control_protocol.h"
#include "common/errno_text.h"
#include "record/attach/jvm.h"
#include "record/run/musl.h"
#include "record/run/no_process.h"

namespace jprof::record {
namespace {

std::string ProgramName(uint32_t pid) { return control::OneLine(procfs::ThreadName(pid, pid)); }

Result<void> CheckOwner(uint32_t pid, const procfs::Status& status) {
  constexpr std::string_view kHint = "`jprof ps` lists the JVMs";
  if (!status.user) return NoProcess(pid, errno, kHint);
  if (status.state == 'Z' || status.state == 'X') return NoProcess(pid, ESRCH, kHint);
  if (geteuid() == 0 || *status.user == geteuid()) return {};
  return WrongUse(
      "process {} belongs to another user: only that user and root can attach to it; {}", pid,
      kHint);
}

Result<void> CheckJvm(uint32_t pid, const JvmMappings& found) {
  if (found.libjvm.empty()) {
    return WrongUse("process {} ({}) is not a Java process; `jprof ps` lists the JVMs", pid,
                    ProgramName(pid));
  }
  if (found.openj9)
    return WrongUse("process {} is an OpenJ9 JVM; jprof attaches only to HotSpot JVMs", pid);
  if (found.musl.empty()) return {};
  return WrongUse("process {} runs on {}: {}", pid, found.musl, kNeedsGlibc);
}

bool IsStopped(const procfs::Status& status) { return status.state == 'T' || status.state == 't'; }

std::string HowToContinue(uint32_t pid, const procfs::Status& status) {
  return status.state == 't' ? "is stopped by a debugger"
                             : fmt::format("is stopped; continue it: kill -CONT {}", pid);
}

bool StartedWith(uint32_t pid, std::string_view option) {
  if (std::ranges::count(procfs::CommandLine(pid), option) != 0) return true;
  return std::ranges::any_of(
      std::initializer_list<const char*>{"JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"},
      [&](const char* name) { return procfs::EnvironmentAtStart(pid, name).contains(option); });
}

Result<void> CheckAnswers(const AttachTarget& target, const procfs::Status& status) {
  if (IsStopped(status))
    return WrongUse("process {} {}", target.pid, HowToContinue(target.pid, status));
  struct stat socket = {};
  if (lstat(target.SocketPath().c_str(), &socket) == 0) return {};
  if (StartedWith(target.pid, "-XX:+DisableAttachMechanism")) {
    return WrongUse("process {} was started with -XX:+DisableAttachMechanism: start it without",
                    target.pid);
  }
  if (status.Catches(SIGQUIT)) return {};
  return WrongUse(
      "process {} has no handler for SIGQUIT: it is still starting, or was started with -Xrs",
      target.pid);
}

// Returns the directory of the JVM's attach files, which JDK 27 and later can have elsewhere than
// in /tmp.
std::string TemporaryPath(uint32_t pid) {
  constexpr std::string_view kOption = "-XX:AltTempDir=";
  std::string path = "/tmp";
  for (const std::string& word : procfs::CommandLine(pid))
    if (word.starts_with(kOption) && word.size() > kOption.size())
      path = word.substr(kOption.size());
  return path.starts_with('/') ? path : "/tmp";
}

// Opens the path in the process's root directory or, if that cannot be read because the process is
// not dumpable, in jprof's.
Fd OpenTemporary(uint32_t pid, const std::string& path) {
  constexpr int kFlags = O_PATH | O_DIRECTORY | O_CLOEXEC;
  Fd folder(open((procfs::Directory(pid) + "/root" + path).c_str(), kFlags));
  if (!folder) folder.Reset(open(path.c_str(), kFlags));
  return folder;
}

}  // namespace

bool AttachTarget::Ended() const {
  pollfd ended = {process.get(), POLLIN, 0};
  return poll(&ended, 1, 0) > 0;
}

std::string AttachTarget::WhySilent() const {
  const procfs::Status status = procfs::ReadStatus(pid);
  if (IsStopped(status)) return fmt::format("it {}", HowToContinue(pid, status));
  return fmt::format(
      "its threads have not reached a safepoint (a loop without one, or a long garbage "
      "collection), it is still starting, or it was started with -XX:+DisableAttachMechanism; "
      "`jcmd {} Thread.print` shows whether it answers other tools",
      pid);
}

std::string AttachTarget::SocketPath() const {
  return fmt::format("{}/.java_pid{}", procfs::DescriptorPath(temporary.get()), own_pid);
}

Result<AttachTarget> FindTarget(uint32_t pid) {
  AttachTarget target;
  target.pid = pid;
  target.process.Reset(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  const procfs::Status status = procfs::ReadStatus(pid);
  if (auto good = CheckOwner(pid, status); !good) return std::unexpected(good.error());
  if (!target.process) return Fail("cannot watch process {}: {}", pid, ErrnoText());
  const auto maps = procfs::ReadMaps(pid);
  if (!maps) return Fail("process {} cannot be examined: {}", pid, maps.error().message);
  JvmMappings found = FindMappings(*maps, RootOf(pid));
  if (auto good = CheckJvm(pid, found); !good) return std::unexpected(good.error());
  target.own_pid = status.own_pid != 0 ? status.own_pid : pid;
  target.ids = {*status.user, status.group};
  target.shares_files = procfs::SharesFiles(pid);
  target.loaded_agents = std::move(found.agents);
  target.temporary_path = TemporaryPath(pid);
  target.temporary = OpenTemporary(pid, target.temporary_path);
  if (auto good = CheckAnswers(target, status); !good) return std::unexpected(good.error());
  return target;
}

}  // namespace jprof::record
