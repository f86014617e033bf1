// Counts, from the records of the kernel, what it does in each calling context: the dispatches that
// end a stretch in it, and the interrupts that come while it is current.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "profile/files/kernel_counts.h"
#include "profile/files/layout.h"

namespace jprof::record {

class ContextCounts {
 public:
  explicit ContextCounts(uint32_t processors) : processors_(processors) {}

  // Counts a record, which follows those of the same processor.
  void Add(uint32_t processor, std::string_view record);

  // Returns the counts of a process's nodes.
  std::vector<profile::KernelCounts> Of(uint32_t process) const;

 private:
  struct Processor {
    uint32_t process = 0;  // of the thread that it runs
    uint32_t depth = 0;    // of interrupts within each other
    uint64_t begin = 0;    // of the outermost one
    uint64_t context = 0;  // in which it came; 0 if that is not counted
  };

  profile::KernelCounts& At(uint32_t process, uint64_t context);

  std::vector<Processor> processors_;
  std::unordered_map<uint32_t, std::unordered_map<uint64_t, profile::KernelCounts>> counts_;
};

}  // namespace jprof::record
