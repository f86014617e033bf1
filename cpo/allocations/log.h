// Reads the logs of libjprof-pages.so, which may be damaged: a process may be killed while it
// writes. Pure except for ReadLog.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "cpo/model/references.h"

namespace jprof::cpo {

struct LoggedGroup {
  std::string kind;  // site, static, heap, stack, java-heap, code-cache, class-space or other
  std::string key;   // the same in every run of the program
  // What a directive about it got at last and at most, and what it did not get because of its
  // limit. Bytes.
  uint64_t advised = 0, large = 0, most_large = 0, refused = 0;
  bool operator==(const LoggedGroup&) const = default;
};

struct LoggedModule {
  uint64_t begin = 0, size = 0;
  std::string path;
  bool operator==(const LoggedModule&) const = default;
};

struct Log {
  uint32_t pid = 0;
  uint32_t large_page = 0;
  uint64_t threshold = 0;
  uint64_t began_ns = 0, last_ns = 0;  // last_ns is that of the last slot
  bool exited = false;                 // whether the program reached its end
  std::vector<LoggedGroup> groups;     // no two have the same kind and key
  std::vector<LoggedModule> modules;
  // In the order of their ends, which are kForever if they were still there when the log ended; no
  // two overlap in both memory and time. A block within another group's memory, such as a chunk of
  // the heap, divides that group's placement.
  std::vector<Placement> placements;
  std::vector<std::string> notes;
  uint64_t minor_faults = 0, major_faults = 0;   // until the last count
  uint64_t total_large = 0, total_resident = 0;  // bytes, at the last count
  uint64_t lost = 0;                             // events that the writer could not log
  uint64_t damaged = 0;                          // slots that make no sense
  bool cut_off = false;                          // the end of the file is missing
};

// Returns the logs in a folder, by name. A process has one for each program that it executed.
std::vector<std::filesystem::path> LogsIn(const std::filesystem::path& folder);

// Fails if it is not a regular file, cannot be read or is no such log.
Result<Log> ReadLog(const std::string& path);
Result<Log> ParseLog(std::string_view bytes);

}  // namespace jprof::cpo
