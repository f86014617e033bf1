#include "jprof/hotspot/vm/code_cache.h"

namespace jprof::hotspot {
namespace {

constexpr uint8_t kFreeSegment = 0xff;

}  // namespace

CodeHeaps::CodeHeaps(Fields& field)
    : heaps_(field.Address("CodeCache", "_heaps")),
      array_length_(field("GrowableArrayBase", "_len")),
      array_data_(field("GrowableArray<int>", "_data")),
      heap_memory_(field("CodeHeap", "_memory")),
      heap_segments_(field("CodeHeap", "_segmap")),
      heap_log2_(field("CodeHeap", "_log2_segment_size")),
      space_low_(field("VirtualSpace", "_low")),
      space_high_(field("VirtualSpace", "_high")),
      header_used_(field("HeapBlock::Header", "_used")),
      header_bytes_(field.Size("HeapBlock")) {}

CodeCache::CodeCache(Fields& field)
    : heaps_(field),
      low_bound_(field.Address("CodeCache", "_low_bound")),
      high_bound_(field.Address("CodeCache", "_high_bound")),
      blob_name_(field("CodeBlob", "_name")),
      blob_size_(field("CodeBlob", "_size")),
      blob_frame_size_(field("CodeBlob", "_frame_size")),
      blob_complete_(field("CodeBlob", "_frame_complete_offset")),
      blob_data_(field("CodeBlob", "_data_offset")),
      code_offset_(field.Optional("CodeBlob", "_code_offset")),
      code_begin_(code_offset_ < 0 ? field("CodeBlob", "_code_begin") : -1),
      code_end_(code_offset_ < 0 ? field("CodeBlob", "_code_end") : -1) {}

// Finds a block by the heap's segment map: each byte is a lower bound of the number of segments
// back to the beginning of the block, and is 0 if the block begins in this segment.
uint64_t CodeHeaps::BlobAround(const MemoryReader& memory, uint64_t address) const {
  const auto heaps = memory.At<uint64_t>(heaps_);
  const auto count = memory.At<int32_t>(heaps + array_length_);
  const auto data = memory.At<uint64_t>(heaps + array_data_);
  for (int i = 0; i < count; ++i) {
    const auto heap = memory.At<uint64_t>(data + i * 8);
    const auto low = memory.At<uint64_t>(heap + heap_memory_ + space_low_);
    if (address < low || address >= memory.At<uint64_t>(heap + heap_memory_ + space_high_))
      continue;
    const auto log2 = memory.At<int32_t>(heap + heap_log2_);
    const auto segments = memory.At<uint64_t>(heap + heap_segments_ + space_low_);
    uint64_t segment = (address - low) >> log2;
    while (const auto back = memory.At<uint8_t>(segments + segment)) {
      if (back == kFreeSegment || back > segment) return 0;
      segment -= back;
    }
    const uint64_t block = low + (segment << log2);
    return memory.At<uint8_t>(block + header_used_) != 0 ? block + header_bytes_ : 0;
  }
  return 0;
}

CodeBlob CodeCache::BlobAt(const MemoryReader& memory, uint64_t address) const {
  CodeBlob blob;
  const uint64_t header = heaps_.BlobAround(memory, address);
  if (header == 0) return blob;
  const auto name = memory.At<uint64_t>(header + blob_name_);
  if (name == 0) return blob;  // under construction
  blob.name = memory.Text(name);
  blob.header = header;
  blob.size = memory.At<uint32_t>(header + blob_size_);
  blob.frame_words = memory.At<int32_t>(header + blob_frame_size_);
  if (code_offset_ >= 0) {
    blob.begin = header + memory.At<uint32_t>(header + code_offset_);
    blob.end = header + memory.At<uint32_t>(header + blob_data_);
    blob.complete = memory.At<int16_t>(header + blob_complete_);
  } else {
    blob.begin = memory.At<uint64_t>(header + code_begin_);
    blob.end = memory.At<uint64_t>(header + code_end_);
    blob.complete = memory.At<int32_t>(header + blob_complete_);
  }
  const bool is_inside = blob.begin >= header && blob.end <= header + blob.size;
  if (is_inside && blob.Holds(address)) blob.kind = BlobKindOf(blob.name);
  return blob;
}

}  // namespace jprof::hotspot
