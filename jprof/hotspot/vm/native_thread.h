// Finds the native thread of a Java thread in the VM's structures.
#pragma once

#include <cstdint>

#include "common/result.h"
#include "jprof/hotspot/vm/memory_reader.h"
#include "jprof/hotspot/vm/struct_lookup.h"

namespace jprof::hotspot {

struct NativeThread {
  uint32_t tid = 0;  // 0 if the thread has ended or has not begun
  unwind::StackBounds stack;
};

class NativeThreads {
 public:
  // Fails if this VM does not export the fields.
  static Result<NativeThreads> Open(const VmStructs& structs);

  // Returns the native thread of `vm_thread`, a JavaThread* or 0. If it is not the calling thread,
  // it may end meanwhile.
  NativeThread Of(uint64_t vm_thread) const;

 private:
  explicit NativeThreads(Fields& field);

  int64_t os_, os_id_, stack_base_, stack_size_;
  MemoryReader::Fetch fetch_ = nullptr;
};

}  // namespace jprof::hotspot
