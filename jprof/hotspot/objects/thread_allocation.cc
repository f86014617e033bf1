#include "jprof/hotspot/objects/thread_allocation.h"

namespace jprof::hotspot {

ThreadAllocation::ThreadAllocation(Fields& field)
    : allocated_bytes_(field("Thread", "_allocated_bytes")) {
  const int64_t tlab = field("Thread", "_tlab");
  tlab_start_ = tlab + field("ThreadLocalAllocBuffer", "_start");
  tlab_top_ = tlab + field("ThreadLocalAllocBuffer", "_top");
}

Result<ThreadAllocation> ThreadAllocation::Open(const VmStructs& structs) {
  Fields field(structs);
  ThreadAllocation allocation(field);
  if (auto found = field.Check(); !found) return std::unexpected(found.error());
  if (const auto image = LibjvmImage::Open()) allocation.fetch_ = MemoryReader::FetchOf(*image);
  return allocation;
}

// The bytes in the current buffer of the thread are not in its account yet.
uint64_t ThreadAllocation::Of(uint64_t vm_thread) const {
  MemoryReader memory(fetch_);
  const auto field = [&](int64_t offset) {
    return memory.Get<uint64_t>(vm_thread + static_cast<uint64_t>(offset));
  };
  const uint64_t in_tlab = field(tlab_top_) - field(tlab_start_);
  return field(allocated_bytes_) + (in_tlab < most_in_tlab_ ? in_tlab : 0);
}

}  // namespace jprof::hotspot
