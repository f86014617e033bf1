// The native thread of a Java thread, from the VM's structures.
#pragma once

#include <cstdint>

#include "common/result.h"
#include "jprof/hotspot/fields.h"
#include "jprof/hotspot/memory_reader.h"

namespace jprof::hotspot {

struct NativeThread {
  uint32_t tid = 0;  // 0: the thread has ended, or has not begun
  unwind::StackBounds stack;
};

class NativeThreads {
 public:
  // Error: this VM does not export the fields.
  static Result<NativeThreads> Open(const VmStructs& structs);

  // `vm_thread`: the JavaThread*, also of another thread, which may end meanwhile; 0: none.
  NativeThread Of(uint64_t vm_thread) const;

 private:
  explicit NativeThreads(Fields& field);

  int64_t os_, os_id_, stack_base_, stack_size_;
  MemoryReader::Fetch fetch_ = nullptr;
};

}  // namespace jprof::hotspot
