#include "jprof/hotspot/code_cache.h"

#include <cstring>

#include "jprof/hotspot/load.h"

namespace jprof::hotspot {
namespace {

constexpr uint8_t kFreeSegment = 0xff;

bool Begins(const char* name, const char* with) {
  return std::strncmp(name, with, std::strlen(with)) == 0;
}

CodeBlob::Kind KindOf(const char* name) {
  switch (name[0]) {
    case 'n':
      if (std::strcmp(name, "nmethod") == 0) return CodeBlob::Kind::kMethod;
      return std::strcmp(name, "native nmethod") == 0 ? CodeBlob::Kind::kNativeMethod
                                                      : CodeBlob::Kind::kOther;
    case 'I':
      if (std::strcmp(name, "Interpreter") == 0) return CodeBlob::Kind::kInterpreter;
      return Begins(name, "I2C/C2I") ? CodeBlob::Kind::kAdapter : CodeBlob::Kind::kOther;
    case 'u':
      return Begins(name, "upcall_stub") ? CodeBlob::Kind::kUpcall : CodeBlob::Kind::kOther;
    default:
      return Begins(name, "vtable") ? CodeBlob::Kind::kAdapter : CodeBlob::Kind::kOther;
  }
}

}  // namespace

void CodeHeaps::Open(Fields& field) {
  heaps_ = reinterpret_cast<uint64_t>(field.Address("CodeCache", "_heaps"));
  array_length_ = field("GrowableArrayBase", "_len");
  array_data_ = field("GrowableArray<int>", "_data");
  heap_memory_ = field("CodeHeap", "_memory");
  heap_segments_ = field("CodeHeap", "_segmap");
  heap_log2_ = field("CodeHeap", "_log2_segment_size");
  space_low_ = field("VirtualSpace", "_low");
  space_high_ = field("VirtualSpace", "_high");
  header_used_ = field("HeapBlock::Header", "_used");
  header_bytes_ = field.Size("HeapBlock");
}

const char* CodeCache::Open(const VmStructs& s) {
  Fields field(s);
  heaps_.Open(field);
  low_bound_ = reinterpret_cast<uint64_t>(field.Address("CodeCache", "_low_bound"));
  high_bound_ = reinterpret_cast<uint64_t>(field.Address("CodeCache", "_high_bound"));
  blob_name_ = field("CodeBlob", "_name");
  blob_size_ = field("CodeBlob", "_size");
  blob_frame_size_ = field("CodeBlob", "_frame_size");
  blob_complete_ = field("CodeBlob", "_frame_complete_offset");
  blob_data_ = field("CodeBlob", "_data_offset");
  code_offset_ = s.Offset("CodeBlob", "_code_offset");
  code_begin_ = code_offset_ < 0 ? field("CodeBlob", "_code_begin") : -1;
  code_end_ = code_offset_ < 0 ? field("CodeBlob", "_code_end") : -1;
  return field.missing();
}

bool CodeCache::Holds(uint64_t address) const {
  return address >= LoadAt<uint64_t>(low_bound_) && address < LoadAt<uint64_t>(high_bound_);
}

// By the heap's segment map: each byte says how many segments back (at least) the block begins; 0:
// here.
uint64_t CodeHeaps::BlobAround(uint64_t address) const {
  const auto heaps = LoadAt<uint64_t>(heaps_);
  const auto count = LoadAt<int32_t>(heaps + array_length_);
  const auto data = LoadAt<uint64_t>(heaps + array_data_);
  for (int i = 0; i < count; ++i) {
    const auto heap = LoadAt<uint64_t>(data + i * 8);
    const auto low = LoadAt<uint64_t>(heap + heap_memory_ + space_low_);
    if (address < low || address >= LoadAt<uint64_t>(heap + heap_memory_ + space_high_)) continue;
    const auto log2 = LoadAt<int32_t>(heap + heap_log2_);
    const auto segments = LoadAt<uint64_t>(heap + heap_segments_ + space_low_);
    uint64_t segment = (address - low) >> log2;
    while (const auto back = LoadAt<uint8_t>(segments + segment)) {
      if (back == kFreeSegment || back > segment) return 0;
      segment -= back;
    }
    const uint64_t block = low + (segment << log2);
    return LoadAt<uint8_t>(block + header_used_) != 0 ? block + header_bytes_ : 0;
  }
  return 0;
}

CodeBlob CodeCache::BlobAt(uint64_t address) const {
  CodeBlob blob;
  const uint64_t header = heaps_.BlobAround(address);
  if (header == 0) return blob;
  blob.name = LoadAt<const char*>(header + blob_name_);
  if (blob.name == nullptr) return blob;  // being made
  blob.header = header;
  blob.size = LoadAt<uint32_t>(header + blob_size_);
  blob.frame_words = LoadAt<int32_t>(header + blob_frame_size_);
  if (code_offset_ >= 0) {
    blob.begin = header + LoadAt<uint32_t>(header + code_offset_);
    blob.end = header + LoadAt<uint32_t>(header + blob_data_);
    blob.complete = LoadAt<int16_t>(header + blob_complete_);
  } else {
    blob.begin = LoadAt<uint64_t>(header + code_begin_);
    blob.end = LoadAt<uint64_t>(header + code_end_);
    blob.complete = LoadAt<int32_t>(header + blob_complete_);
  }
  if (blob.Holds(address)) blob.kind = KindOf(blob.name);
  return blob;
}

}  // namespace jprof::hotspot
