// Finds the counters that HotSpot keeps for `jstat`, such as sun.gc.cause. They are in memory that
// is mapped until the process ends; the VM changes them at any time.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "jprof/hotspot/vm/vm_structs.h"

namespace jprof::hotspot {

// How much of the heap is used, and why the last collection was made. Without the VM's counters
// (-XX:-UsePerfData) the values are 0 and empty.
class HeapCounters {
 public:
  HeapCounters() = default;
  // Finds the counters. Call this in the live phase, when the VM has made them.
  static HeapCounters Find(const VmStructs& structs);

  // Returns the bytes used, as of the end of the last collection.
  uint64_t Used() const;
  // Returns the cause of the collection in progress or, if there is none, of the last one.
  std::string Cause() const;

 private:
  void Add(std::string_view name, const char* value, uint64_t size);

  struct Text {
    const char* begin = nullptr;
    uint64_t size = 0;

    std::string Value() const { return {begin, begin != nullptr ? strnlen(begin, size) : 0}; }
  };

  std::vector<const int64_t*> used_;  // of each part of the heap
  Text cause_, last_cause_;
};

}  // namespace jprof::hotspot
