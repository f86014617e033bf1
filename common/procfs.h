// The only reader of the proc file system, for tools and for code in the profiled process that runs
// outside of signal handlers.
// - A pid of kSelf is the calling process.
// - `root` is where proc is mounted; tests pass a directory that they made.
// - What does not exist, cannot be read or cannot be parsed is an empty value, unless a function
//   returns a Result, whose error names the file.
// - Every read is bounded by kMaxSmallFile, or kMaxMaps for memory maps.
#pragma once

#include <sys/types.h>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "common/result.h"

namespace jprof::procfs {

inline constexpr char kRoot[] = "/proc";
inline constexpr char kKernelSymbols[] = "/proc/kallsyms";  // parsed where symbols are
inline constexpr uint32_t kSelf = 0;
inline constexpr size_t kMaxSmallFile = size_t{4} << 20;  // cpuinfo of a thousand CPUs
inline constexpr size_t kMaxMaps = size_t{256} << 20;

// Returns the number at the beginning of a text, or nothing if there is none.
template <typename T>
std::optional<T> NumberAt(std::string_view text, int base = 10) {
  T value = 0;
  const auto [after, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc()) return std::nullopt;
  return value;
}

// Returns the directory of a process, for files in it that have no reader here.
std::string Directory(uint32_t pid, const std::string& root = kRoot);

// Reads the text of a file in proc or of another pseudo file system of the kernel.
std::string ReadSmallFile(const std::string& path);

// Returns a path to the file that a descriptor of this process refers to, whatever has happened to
// its name since.
std::string DescriptorPath(int fd);

// Both return numbers in ascending order.
std::vector<uint32_t> Processes(const std::string& root = kRoot);
std::vector<uint32_t> Threads(uint32_t pid, const std::string& root = kRoot);
bool Exists(uint32_t pid, const std::string& root = kRoot);

// Returns the name of a thread, 15 bytes at most, which the process itself sets.
std::string ThreadName(uint32_t pid, uint32_t tid, const std::string& root = kRoot);

// Returns the words of the command line.
std::vector<std::string> CommandLine(uint32_t pid, const std::string& root = kRoot);

// Returns the value that an environment variable had when the process started.
std::string EnvironmentAtStart(uint32_t pid, std::string_view name,
                               const std::string& root = kRoot);

struct Status {
  uint32_t parent = 0;
  std::optional<uid_t> user;  // effective; none if there is no such process
  gid_t group = 0;            // effective
  uint32_t own_pid = 0;       // in the process's own pid namespace; 0 if unknown
  uint64_t capabilities = 0;  // effective
  uint64_t caught = 0;        // signals with a handler; bit 0 is signal 1
  uint64_t blocked = 0;       // signals that the thread blocks; the same bits
  char state = 0;             // R, S, D, T (stopped), Z (ended) ...; 0 if unknown

  bool Catches(int signal) const { return (caught >> (signal - 1) & 1) != 0; }
  bool Blocks(int signal) const { return (blocked >> (signal - 1) & 1) != 0; }
};
// Reads the status of a process or, if `pid` is a thread's number, of that thread.
Status ReadStatus(uint32_t pid, const std::string& root = kRoot);
Status ParseStatus(std::string_view text);

// Returns the owner of the process's directory. It is root if the process is not dumpable, for
// example after a change of user.
std::optional<uid_t> Owner(uint32_t pid, const std::string& root = kRoot);

// Returns whether a path means the same file to the process and to this one, because both have the
// same root directory and mount namespace. Returns false if these cannot be read.
bool SharesFiles(uint32_t pid, const std::string& root = kRoot);

struct Times {
  double running = 0;  // seconds since the start
  double cpu = 0;      // seconds of CPU time of all threads
};
std::optional<Times> ReadTimes(uint32_t pid, const std::string& root = kRoot);

// Returns when a process started, in clock ticks after boot. Together with the pid this identifies
// a process.
std::optional<uint64_t> ParseStartTime(std::string_view stat);

// Returns whether the process runs. A zombie does not.
bool Runs(uint32_t pid, const std::string& root = kRoot);
// Returns the CPU time of a process in nanoseconds, in steps of a clock tick, or 0 if there is no
// such process.
uint64_t CpuNanos(uint32_t pid, const std::string& root = kRoot);

struct Mapping {
  uint64_t start = 0, end = 0;
  bool executable = false;
  uint64_t offset = 0, inode = 0;
  std::string path;  // empty for anonymous memory
  bool writable = false, shared = false;
};
// Parses memory maps and skips lines that cannot be parsed. The path of a file that was removed
// since ends with " (deleted)", as the kernel writes it.
std::vector<Mapping> ParseMaps(std::string_view text);
Result<std::vector<Mapping>> ReadMaps(uint32_t pid, const std::string& root = kRoot);

// Returns the memory of the machine that is available without swapping, in bytes. A container may
// have less; see common/control_group.h.
std::optional<uint64_t> MachineMemory(const std::string& root = kRoot);

// Returns the processor's name, or "unknown" if the kernel does not report one, as on AArch64.
std::string CpuModel(const std::string& root = kRoot);

// Returns the value of the first line of cpuinfo with this name, for example "flags".
std::string CpuInfo(std::string_view name, const std::string& root = kRoot);

// Returns the number in sys/kernel/`name`.
std::optional<int> KernelSetting(const std::string& name, const std::string& root = kRoot);

}  // namespace jprof::procfs
