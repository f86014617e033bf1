// Reads how many bytes a thread has allocated in the heap, by the VM's own exact account: what the
// method getThreadAllocatedBytes of com.sun.management.ThreadMXBean returns.
#pragma once

#include <cstdint>

#include "common/result.h"
#include "jprof/hotspot/vm/memory_reader.h"
#include "jprof/hotspot/vm/struct_lookup.h"

namespace jprof::hotspot {

class ThreadAllocation {
 public:
  // Fails if this VM does not export the fields.
  static Result<ThreadAllocation> Open(const VmStructs& structs);

  // Returns the bytes of `vm_thread`, a JavaThread*. They are exact on the thread itself and while
  // it does not allocate. If the thread has ended, the result is not defined.
  uint64_t Of(uint64_t vm_thread) const;

 private:
  explicit ThreadAllocation(Fields& field);

  int64_t allocated_bytes_, tlab_start_, tlab_top_;
  uint64_t most_in_tlab_ = uint64_t{1} << 32;
  MemoryReader::Fetch fetch_ = nullptr;
};

}  // namespace jprof::hotspot
