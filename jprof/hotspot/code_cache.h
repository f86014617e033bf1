// HotSpot's code cache: which blob of generated code lies around an address, and what its header
// says. Loads only, from memory that the VM keeps committed, so callable in a signal handler, with
// any address.
#pragma once

#include <cstdint>

#include "jprof/hotspot/fields.h"

namespace jprof::hotspot {

// A piece of generated code. What is not known is 0.
struct CodeBlob {
  enum class Kind { kNone, kInterpreter, kMethod, kNativeMethod, kAdapter, kUpcall, kOther };
  Kind kind = Kind::kNone;
  uint64_t header = 0;  // the CodeBlob
  uint64_t size = 0;    // of all of it, from the header on
  uint64_t begin = 0;   // its code
  uint64_t end = 0;
  int64_t complete = 0;     // offset of the code from which on its frame stands; -1: never
  int64_t frame_words = 0;  // size of its frame, the return address included
  const char* name = nullptr;

  bool Holds(uint64_t pc) const { return pc >= begin && pc < end; }
};

// The memory that code blobs stand in. Loads only; any address may be asked for.
class CodeHeaps {
 public:
  // What this VM does not tell is remembered by `field`.
  void Open(Fields& field);
  // The CodeBlob around an address; 0: none.
  uint64_t BlobAround(uint64_t address) const;

 private:
  uint64_t heaps_ = 0;  // address of CodeCache::_heaps
  int64_t array_length_, array_data_, heap_memory_, heap_segments_, heap_log2_, space_low_,
      space_high_;
  int64_t header_used_, header_bytes_;
};

class CodeCache {
 public:
  // Null, or the name of what this VM does not tell.
  const char* Open(const VmStructs& structs);

  // Whether generated code may lie there.
  bool Holds(uint64_t address) const;
  CodeBlob BlobAt(uint64_t address) const;

 private:
  CodeHeaps heaps_;
  uint64_t low_bound_ = 0, high_bound_ = 0;  // addresses of the statics
  int64_t blob_name_, blob_size_, blob_frame_size_, blob_complete_, blob_data_;
  int64_t code_begin_, code_end_;  // addresses in the header, up to JDK 22
  int64_t code_offset_;            // from 23 on; the code ends at the data
};

}  // namespace jprof::hotspot
