// Copies the files that JIT compilers other than the JVM's write for profilers into a recording:
// perf maps (/tmp/perf-PID.map) and the jitdumps (jit-*.dump) that a process maps.
//
// These files belong to the users of the sampled processes, and jprof may be root. So a file is
// copied only if
// - the user of its process may read it: it is opened with that user's rights,
// - no symbolic link is on its path, and it is no mount of its own,
// - it is a regular file with one name,
// - it belongs to the user of its process,
// - all files together stay below a limit.
// The path is resolved in the root directory of the process, if that process is still the one that
// was sampled.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/result.h"
#include "record/run/scoped_user.h"

namespace jprof::record {

class ForeignJit {
 public:
  static constexpr uint64_t kMostBytes = uint64_t{1} << 30;  // of one recording

  void Sampled(uint32_t pid);
  void Forked(uint32_t parent, uint32_t child);
  void Executed(uint32_t pid);
  void Mapped(uint32_t pid, std::string_view path, uint64_t inode);

  // Copies into the directory `out`; the names are perf-PID.map and jit-PID.dump, with the PIDs of
  // the recording. Returns a line for each file that was not copied.
  std::vector<std::string> CopyTo(const std::filesystem::path& out) const;

 private:
  struct Process {
    uint64_t started = 0;  // in clock ticks after boot; 0 if it ended before it was read
    UserIds ids;
    bool sampled = false;
  };

  Process& ProcessOf(uint32_t pid);

  std::map<uint32_t, Process> processes_;
  std::map<std::pair<uint64_t, std::string>, uint32_t>
      dumps_;  // by inode and path, the process that mapped it
};

// Copies the regular file `path`, below the directory `root`, as `name` into the directory `out`.
// `ids` are those of the process that wrote it. `bytes_left` is the number of bytes that may still
// be copied, and is updated. Returns false if there is no such file. Fails, with the reason, if the
// file is not copied.
Result<bool> CopyTrusted(int root, const std::filesystem::path& path, UserIds ids, int out,
                         const std::string& name, uint64_t& bytes_left);

}  // namespace jprof::record
