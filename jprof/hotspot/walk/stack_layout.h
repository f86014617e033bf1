// Describes the layout of the VM structures that a stack walk reads, looked up once in
// VmStructs, and checks that a value is a Method*. Once constructed, the object can be used
// in a signal handler.
#pragma once

#include <atomic>
#include <cstdint>

#include "jprof/hotspot/vm/code_cache.h"
#include "jprof/hotspot/vm/interpreter_entries.h"
#include "jprof/hotspot/vm/memory_reader.h"
#include "jprof/hotspot/vm/method_layout.h"
#include "jprof/hotspot/vm/nmethod.h"
#include "jprof/hotspot/vm/nmethod_layout.h"
#include "jprof/hotspot/vm/vm_structs.h"

namespace jprof::hotspot {

// A lock-free cache, by hash, of values that were completely checked before. A new entry may
// replace an old one.
class ValidatedCache {
 public:
  static uint64_t Mark(uint64_t a, uint64_t b) {
    const uint64_t mixed = (a ^ (b * 0x9e3779b97f4a7c15)) * 0xd6e8feb86659fd93;
    return (mixed ^ mixed >> 32) | 1;
  }
  bool Has(uint64_t mark) const {
    return slots_[mark >> 7 & kMask].load(std::memory_order_relaxed) == mark;
  }
  void Add(uint64_t mark) { slots_[mark >> 7 & kMask].store(mark, std::memory_order_relaxed); }

 private:
  static constexpr uint64_t kMask = 16383;
  std::atomic<uint64_t> slots_[kMask + 1] = {};
};

struct MethodShape {
  uint64_t code = 0;  // address of its bytecodes
  uint32_t code_size = 0;
  bool is_native = false;
};

class StackLayout {
 public:
  StackLayout(Fields& field, const MemoryReader& memory);

  // Returns whether a pointer is a Method* whose class and names can be read.
  bool IsMethod(uint64_t method, MemoryReader& memory) const;
  MethodShape ShapeOf(uint64_t method, MemoryReader& memory) const;

  CodeCache cache;
  NmethodLayout nmethod;
  mutable InterpreterEntries entries;
  Coding coding;
  int64_t thread_anchor, anchor_sp, anchor_pc, anchor_fp;
  int64_t continuation_entry;  // offset in a thread; -1 if this VM has no virtual threads
  // The location of the address in enterSpecial to which all continuations return, or 0 if there
  // is none.
  uint64_t continuation_return;
  uint64_t call_stub_return;  // location of the return address of the call stub's call
  int64_t wrapper_anchor;
  int64_t upcall_frame_data;  // offset in an UpcallStub; -1 if there is none
  int64_t thread_os, os_id, thread_stack_base, thread_stack_size, thread_bytes;

 private:
  bool IsReadable(uint64_t method, uint64_t const_method, MemoryReader& memory) const;

  MethodLayout method_;
  mutable ValidatedCache known_;
};

}  // namespace jprof::hotspot
