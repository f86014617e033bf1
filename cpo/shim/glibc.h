// What the C library exports of its allocator under names that nobody replaces, and the header that
// it keeps before each block.
#pragma once

#include <stddef.h>
#include <stdint.h>

extern "C" {
void* __libc_malloc(size_t bytes) noexcept;
void* __libc_calloc(size_t count, size_t bytes) noexcept;
void* __libc_realloc(void* block, size_t bytes) noexcept;
void* __libc_memalign(size_t alignment, size_t bytes) noexcept;
void __libc_free(void* block) noexcept;
}

namespace jprof::cpo {

inline uint64_t AddressOf(const void* memory) { return reinterpret_cast<uint64_t>(memory); }

// The low bits of the header.
inline constexpr size_t kMappedChunk = 2, kOtherArena = 4, kHeaderFlags = 7;

// Returns the bytes of a block with its header, and the flags. Reads the word before the block, as
// free does.
inline size_t HeaderOf(const void* block) { return static_cast<const size_t*>(block)[-1]; }

inline bool IsMapped(const void* block) { return (HeaderOf(block) & kMappedChunk) != 0; }

// Returns how many bytes the program may use, as malloc_usable_size: a block that is not mapped
// also has the first word of the next one.
inline size_t UsableBytes(const void* block) {
  const size_t header = HeaderOf(block), words = (header & kMappedChunk) != 0 ? 2 : 1;
  return (header & ~kHeaderFlags) - words * sizeof(size_t);
}

}  // namespace jprof::cpo
