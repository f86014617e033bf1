#include "record/run/no_process.h"

#include <signal.h>

#include <cerrno>

#include "common/errno_text.h"
#include "common/procfs.h"

namespace jprof::record {
namespace {

bool HasEnded(const procfs::Status& status) { return status.state == 'Z' || status.state == 'X'; }

// Returns true also if the process's entry in /proc is not visible, or if no descriptor is free.
bool Exists(uint32_t pid) { return kill(static_cast<pid_t>(pid), 0) == 0 || errno != ESRCH; }

}  // namespace

std::unexpected<Error> NoProcess(uint32_t pid, int error, std::string_view hint) {
  const procfs::Status status = procfs::ReadStatus(pid);
  if (HasEnded(status)) {
    return WrongUse(
        "there is no process {} any more: it has ended, and its parent {} has not "
        "waited for it yet (a zombie)",
        pid, status.parent);
  }
  if (error != ESRCH && Exists(pid))
    return Fail("cannot read {}: {}", procfs::Directory(pid), ErrnoText(error));
  return WrongUse("there is no process {}{}{}", pid, hint.empty() ? "" : "; ", hint);
}

}  // namespace jprof::record
