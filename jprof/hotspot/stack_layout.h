// Where HotSpot keeps what a stack walk reads, found once by VmStructs; and the checks that make
// reading it safe. Everything here is callable in a signal handler.
#pragma once

#include <atomic>
#include <cstdint>

#include "jprof/hotspot/code_cache.h"
#include "jprof/hotspot/foreign.h"
#include "jprof/hotspot/nmethod.h"
#include "jprof/hotspot/vm_structs.h"

namespace jprof::hotspot {

// Things that were checked completely once and are recognised by a hash of what they are: no lock,
// never full (a new one takes an old one's place).
class KnownGood {
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

// The method entries of the interpreter: there no frame stands yet. Found when first needed (the
// interpreter is made after agents are loaded), by whoever needs it; two at once write the same.
class InterpreterEntries {
 public:
  const char* Open(const VmStructs& structs);
  // All of the interpreter's code: [begin, end). Zeroes: there is none yet.
  struct Range {
    uint64_t begin, end;
  };
  Range Code() const;
  // Null: pc is in no method entry. Else from which address on fp is the frame's; 0: never.
  const uint64_t* FrameFrom(uint64_t pc);

 private:
  struct Entry {
    uint64_t begin, end, frame_from;
  };
  static constexpr int kMost = 128;

  void Find();

  uint64_t queue_ = 0;  // address of AbstractInterpreter::_code
  int64_t buffer_, limit_, first_, end_, codelet_size_, codelet_name_, codelet_bytes_;
  Entry entries_[kMost] = {};
  std::atomic<int> count_ = -1;
};

// Where the scopes of a compiled method are. From JDK 23 on that is in the C heap.
struct DebugInformation {
  uint64_t pcs = 0, pc_count = 0;
  uint64_t scopes = 0, scopes_size = 0;
  uint64_t metadata = 0, metadata_count = 0;
};

struct MethodShape {
  uint64_t code = 0;  // its bytecodes
  uint32_t code_size = 0;
  bool is_native = false;
};

class StackLayout {
 public:
  // Null, or the name of what this VM does not tell.
  const char* Open(const VmStructs& structs);

  // Whether a pointer is a Method* whose class and names can be read.
  bool IsMethod(uint64_t method, Foreign& foreign) const;
  MethodShape ShapeOf(uint64_t method, Foreign& foreign) const;

  uint64_t MethodOf(const CodeBlob& nmethod) const;
  bool IsOptimised(const CodeBlob& nmethod) const;  // by C2
  // Every compilation has its own. `header`: anywhere in the code cache, maybe of no nmethod.
  int32_t CompileId(uint64_t header) const;
  bool DebugOf(const CodeBlob& nmethod, DebugInformation* debug) const;
  // Whether pc is what a deoptimised frame's return address was changed to; and the pc it had, 0:
  // none.
  bool IsDeoptHandler(const CodeBlob& nmethod, uint64_t pc) const;
  uint64_t DeoptimisedPc(const CodeBlob& nmethod, uint64_t pc, uint64_t sp) const;

  Foreign::Fetch fetch = nullptr;
  CodeCache cache;
  mutable InterpreterEntries entries;
  Coding coding = Coding::kAllBytes;
  int64_t thread_anchor, anchor_sp, anchor_pc, anchor_fp;
  int64_t continuation_entry;  // of a thread; -1: this VM has no virtual threads
  const uint64_t*
      continuation_return;  // the address in enterSpecial that all continuations return to
  const uint64_t* call_stub_return;
  int64_t wrapper_anchor;
  int64_t upcall_frame_data;  // offset in an UpcallStub; -1: none
  int64_t thread_os, os_id, thread_stack_base, thread_stack_size, thread_bytes;

 private:
  bool ChecksOut(uint64_t method, uint64_t const_method, Foreign& foreign) const;

  int64_t method_const_, method_flags_, method_flags_bytes_, method_bytes_;
  int64_t const_pool_, const_code_size_, const_name_, const_signature_, const_bytes_;
  int64_t pool_holder_, pool_length_, pool_bytes_, klass_name_, symbol_length_, symbol_body_;
  int64_t nm_method_, nm_level_, nm_level_bytes_, nm_pcs_, nm_original_pc_, nm_compile_id_;
  int64_t nm_scopes_, nm_dependencies_, nm_metadata_, nm_deopt_, nm_deopt_mh_;  // up to JDK 22
  int64_t nm_immutable_, nm_immutable_size_, nm_scopes_offset_, nm_deopt_offset_,
      nm_deopt_mh_offset_;  // from 23 on
  int64_t blob_mutable_, blob_mutable_size_, blob_relocation_size_;
  mutable KnownGood known_;
};

}  // namespace jprof::hotspot
