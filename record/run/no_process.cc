#include "record/run/no_process.h"

#include <signal.h>

#include <cerrno>

#include "common/errno_text.h"
#include "common/procfs.h"

namespace jprof::record {
namespace {

// Returns true also if the process's entry in /proc is not visible, or if no descriptor is free.
bool Exists(uint32_t pid) {
  const char state = procfs::ReadStatus(pid).state;
  if (state == 'Z' || state == 'X') return false;
  return kill(static_cast<pid_t>(pid), 0) == 0 || errno != ESRCH;
}

}  // namespace

std::unexpected<Error> NoProcess(uint32_t pid, int error, std::string_view hint) {
  if (error != ESRCH && Exists(pid))
    return Fail("cannot read {}: {}", procfs::Directory(pid), ErrnoText(error));
  return WrongUse("there is no process {}{}{}", pid, hint.empty() ? "" : "; ", hint);
}

}  // namespace jprof::record
