// Finds the group of memory that an address of a trace was in: a site of allocations, static data,
// a stack. It reads the logs that `jprof itrace --sites` leaves in the recording
// (cpo/allocations/log.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "a2n/span_index.h"
#include "cpo/allocations/log.h"
#include "model/itrace/memory_use.h"

namespace jprof::model {

// Limits how far apart the times of a reference and of an allocation may be that belong together.
// Times of references are interpolated between stops of the thread, and while other programs run it
// does not stop.
inline constexpr uint64_t kPlaceSlackNanos = 100'000'000;

// The group of a reference whose address changed hands within this time is uncertain.
inline constexpr uint64_t kPlaceDoubtNanos = 10'000'000;

class MemoryPlaces {
 public:
  // Reads all logs of the recording. One that cannot be read is left out, with a line in `losses`;
  // so are parts of logs that are damaged or were not written.
  MemoryPlaces(const std::filesystem::path& directory, std::vector<std::string>& losses);
  // Takes the logs of processes. A process has one for each program that it executed.
  explicit MemoryPlaces(std::vector<cpo::Log> logs);

  bool empty() const { return groups_.size() == 1; }
  // Returns the groups of all logs. The first is that of memory that no log has.
  const std::vector<MemoryGroup>& groups() const { return groups_; }

  struct Place {
    uint32_t group = 0;        // an index of groups()
    bool is_doubtful = false;  // another group had the address less than kPlaceDoubtNanos away
  };
  // Returns what had the address of the process at the time. If nothing had it then, returns what
  // had it at the nearest time that is less than kPlaceSlackNanos away. Static data and the main
  // thread's stack are there before the log mentions them.
  Place Find(uint32_t pid, uint64_t address, uint64_t time_ns) const;

 private:
  struct Process {
    a2n::SpanIndex exact;
    // What had an address until less than kPlaceSlackNanos ago, and what has it from less than
    // that later; the times of the latter count backwards.
    a2n::SpanIndex ended, coming;

    // Returns what had the address at the nearest time, or null.
    const a2n::Span* Nearest(uint64_t address, uint64_t time_ns) const;
    // Returns whether another group had the address in [first, time_ns).
    bool OtherBefore(uint32_t group, uint64_t address, uint64_t time_ns, uint64_t first) const;
    // Returns whether another group has the address in [time_ns, last].
    bool OtherBehind(uint32_t group, uint64_t address, uint64_t time_ns, uint64_t last) const;
  };

  // Adds the log of a program that the process executed during [begin_ns, end_ns).
  void Add(const cpo::Log& log, uint64_t begin_ns, uint64_t end_ns);
  uint32_t NumberOf(const cpo::LoggedGroup& group, std::string name);

  std::vector<MemoryGroup> groups_ = {{.kind = "unknown", .key = {}, .name = "not known"}};
  std::map<std::pair<std::string, std::string>, uint32_t> numbers_;  // by kind and key
  std::map<uint32_t, Process> processes_;                            // by pid
};

}  // namespace jprof::model
