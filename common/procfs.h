// The only reader of the proc file system, for tools and for code in the profiled process that runs
// outside of signal handlers.
// - A pid of kSelf is the calling process.
// - `root` is where proc is mounted; tests pass a directory that they made.
// - What does not exist, cannot be read or cannot be parsed is an empty value, unless a function
//   returns a Result, whose error names the file.
// - Every read is bounded by kMaxSmallFile, or kMaxMaps for memory maps.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"

namespace jprof::procfs {

inline constexpr char kRoot[] = "/proc";
inline constexpr char kKernelSymbols[] = "/proc/kallsyms";  // parsed where symbols are
inline constexpr uint32_t kSelf = 0;
inline constexpr size_t kMaxSmallFile = size_t{4} << 20;  // cpuinfo of a thousand CPUs
inline constexpr size_t kMaxMaps = size_t{256} << 20;

// The directory of a process, for files below it that have no reader here.
std::string Directory(uint32_t pid, const std::string& root = kRoot);

// The text of a file in proc or of another pseudo file system of the kernel.
std::string ReadSmallFile(const std::string& path);

// A path to what a descriptor of this process refers to, whatever has happened to its name since.
std::string DescriptorPath(int fd);

// Ascending.
std::vector<uint32_t> Processes(const std::string& root = kRoot);
std::vector<uint32_t> Threads(uint32_t pid, const std::string& root = kRoot);
bool Exists(uint32_t pid, const std::string& root = kRoot);

// The name of a thread: 15 bytes at most, set by the process itself.
std::string ThreadName(uint32_t pid, uint32_t tid, const std::string& root = kRoot);

// The words of the command line.
std::vector<std::string> CommandLine(uint32_t pid, const std::string& root = kRoot);

// The value of an environment variable when the process started.
std::string EnvironmentAtStart(uint32_t pid, std::string_view name,
                               const std::string& root = kRoot);

struct Status {
  uint32_t parent = 0;
  std::optional<uid_t> user;  // effective; none: there is no such process
  gid_t group = 0;            // effective
  uint32_t own_pid = 0;       // in the process's own pid namespace; 0: unknown
  uint64_t capabilities = 0;  // effective
  uint64_t caught = 0;        // signals with a handler; bit 0 is signal 1
  uint64_t blocked = 0;       // of the thread; the same bits
  char state = 0;             // R, S, D, T (stopped), Z (ended) ...; 0: unknown

  bool Catches(int signal) const { return (caught >> (signal - 1) & 1) != 0; }
  bool Blocks(int signal) const { return (blocked >> (signal - 1) & 1) != 0; }
};
// `pid` may also be a thread's number.
Status ReadStatus(uint32_t pid, const std::string& root = kRoot);
Status ParseStatus(std::string_view text);

// The owner of the process's directory: root if the process is not dumpable, for example after a
// change of user.
std::optional<uid_t> Owner(uint32_t pid, const std::string& root = kRoot);

// Whether a path means the same file to the process and to this one: both have the same root
// directory and mount namespace. False if it cannot be read.
bool SharesFiles(uint32_t pid, const std::string& root = kRoot);

struct Times {
  double running = 0;  // seconds since the start
  double cpu = 0;      // seconds of CPU time of all threads
};
std::optional<Times> ReadTimes(uint32_t pid, const std::string& root = kRoot);

// When a process started, in clock ticks after boot: with the pid it identifies a process.
std::optional<uint64_t> ParseStartTime(std::string_view stat);

// Whether the process runs: a zombie does not.
bool Runs(uint32_t pid, const std::string& root = kRoot);
// The CPU time of a process in nanoseconds, in steps of a clock tick; 0: there is no such process.
uint64_t CpuNanos(uint32_t pid, const std::string& root = kRoot);

struct Mapping {
  uint64_t start = 0, end = 0;
  bool executable = false;
  uint64_t offset = 0, inode = 0;
  std::string path;  // empty: anonymous memory
  bool writable = false, shared = false;
};
// A file that was removed since has " (deleted)" at the end of its path, as the kernel writes it.
// Skips lines that cannot be parsed.
std::vector<Mapping> ParseMaps(std::string_view text);
Result<std::vector<Mapping>> ReadMaps(uint32_t pid, const std::string& root = kRoot);

// Memory of the machine that is available without swapping, in bytes. A container may have less:
// see common/control_group.h.
std::optional<uint64_t> MachineMemory(const std::string& root = kRoot);

// The processor's name; "unknown" where the kernel does not report one, as on AArch64.
std::string CpuModel(const std::string& root = kRoot);

// The value of the first line of cpuinfo with this name, for example "flags".
std::string CpuInfo(std::string_view name, const std::string& root = kRoot);

// The number in sys/kernel/`name`.
std::optional<int> KernelSetting(const std::string& name, const std::string& root = kRoot);

}  // namespace jprof::procfs
