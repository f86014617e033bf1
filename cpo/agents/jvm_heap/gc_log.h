// Reads the log of collections that HotSpot writes with kGcLogOption. Pure. The log is made by a
// program that may be killed: lines that cannot be parsed are skipped.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace jprof::cpo {

// Returns the option that makes a JVM since Java 9 write the log to a file.
std::string GcLogOption(std::string_view file);

struct GcPause {
  enum class Kind { kYoung, kFull, kOther };  // others, such as a remark, move nothing
  Kind kind = Kind::kOther;
  double seconds = 0;
  uint64_t before = 0, after = 0, heap = 0;  // bytes used, and of the heap; steps of 1 MiB
};

struct GcLog {
  std::string collector;  // "G1", "Parallel", "Serial", ...; empty if this is no such log
  std::vector<GcPause> pauses;
  uint64_t used_at_exit = 0;  // 0 if the JVM was killed

  double PauseSeconds() const;
  uint64_t YoungCount() const;
  // Returns the bytes that were allocated, as far as the log shows: between collections, and from
  // the last one to the exit.
  uint64_t Allocated() const;
  // Returns the bytes that were live: the most after a full collection or, if there was none, the
  // least after a young one of the second half, which is an upper bound.
  uint64_t Live() const;
};

GcLog ParseGcLog(std::string_view text);

}  // namespace jprof::cpo
