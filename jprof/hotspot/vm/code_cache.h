// Describes HotSpot's code cache: finds the blob of generated code around an address and reads
// its header. Reads only memory that the VM keeps committed. Can be called in a signal
// handler, with any address.
#pragma once

#include <cstdint>

#include "jprof/hotspot/vm/blob_kind.h"
#include "jprof/hotspot/vm/memory_reader.h"
#include "jprof/hotspot/vm/struct_lookup.h"

namespace jprof::hotspot {

// A block of generated code. Unknown fields are 0.
struct CodeBlob {
  BlobKind kind = BlobKind::kNone;
  uint64_t header = 0;  // address of the CodeBlob
  uint64_t size = 0;    // size of the whole blob, header included
  uint64_t begin = 0;   // address of its code
  uint64_t end = 0;
  int64_t complete = 0;     // offset in the code from which on its frame is complete, or -1
  int64_t frame_words = 0;  // size of its frame, including the return address
  const char* name = nullptr;

  bool Holds(uint64_t pc) const { return pc >= begin && pc < end; }
};

// The memory that contains the code blobs.
class CodeHeaps {
 public:
  explicit CodeHeaps(Fields& field);
  // Returns the CodeBlob around an address, or 0 if there is none.
  uint64_t BlobAround(const MemoryReader& memory, uint64_t address) const;

 private:
  uint64_t heaps_;  // address of CodeCache::_heaps
  int64_t array_length_, array_data_;
  int64_t heap_memory_, heap_segments_, heap_log2_, space_low_, space_high_;
  int64_t header_used_, header_bytes_;
};

class CodeCache {
 public:
  explicit CodeCache(Fields& field);

  // Returns whether the address is in the range of generated code.
  bool Holds(const MemoryReader& memory, uint64_t address) const {
    return address >= memory.At<uint64_t>(low_bound_) && address < memory.At<uint64_t>(high_bound_);
  }
  CodeBlob BlobAt(const MemoryReader& memory, uint64_t address) const;

 private:
  CodeHeaps heaps_;
  uint64_t low_bound_, high_bound_;  // addresses of the statics
  int64_t blob_name_, blob_size_, blob_frame_size_, blob_complete_, blob_data_;
  int64_t code_offset_;            // from JDK 23 on, else -1; the code ends where the data begins
  int64_t code_begin_, code_end_;  // addresses up to JDK 22, else -1
};

}  // namespace jprof::hotspot
