// The functions of malloc's family that libjprof-pages.so replaces. A small block costs one
// comparison: everything else begins at large.h. operator new is libstdc++'s, which calls these.
#include <errno.h>
#include <stddef.h>

#include "cpo/shim/glibc.h"
#include "cpo/shim/large.h"

#define JPROF_EXPORTED extern "C" [[gnu::visibility("default")]]

using namespace jprof::cpo;

JPROF_EXPORTED void* malloc(size_t bytes) {
  if (IsSmall(bytes)) [[likely]]
    return __libc_malloc(bytes);
  return LargeMalloc(bytes);
}

JPROF_EXPORTED void free(void* block) {
  if (block == nullptr) return;
  if (IsSmall(HeaderOf(block))) [[likely]]
    return __libc_free(block);
  LargeFree(block);
}

JPROF_EXPORTED void* calloc(size_t count, size_t bytes) {
  size_t all;
  if (__builtin_mul_overflow(count, bytes, &all) || IsSmall(all)) [[likely]]
    return __libc_calloc(count, bytes);
  return LargeCalloc(all);
}

JPROF_EXPORTED void* realloc(void* block, size_t bytes) {
  const bool was_small = block == nullptr || IsSmall(HeaderOf(block));
  if (was_small && IsSmall(bytes)) [[likely]]
    return __libc_realloc(block, bytes);
  return LargeRealloc(block, bytes);
}

JPROF_EXPORTED void* memalign(size_t alignment, size_t bytes) {
  if (IsSmall(bytes)) [[likely]]
    return __libc_memalign(alignment, bytes);
  return LargeAligned(alignment, bytes);
}

JPROF_EXPORTED void* aligned_alloc(size_t alignment, size_t bytes) {
  if (IsSmall(bytes)) [[likely]]
    return __libc_memalign(alignment, bytes);
  return LargeAligned(alignment, bytes);
}

JPROF_EXPORTED int posix_memalign(void** block, size_t alignment, size_t bytes) {
  const bool is_power = alignment != 0 && (alignment & (alignment - 1)) == 0;
  if (!is_power || alignment % sizeof(void*) != 0) return EINVAL;
  const int error = errno;
  void* const made =
      IsSmall(bytes) ? __libc_memalign(alignment, bytes) : LargeAligned(alignment, bytes);
  errno = error;
  if (made == nullptr) return ENOMEM;
  *block = made;
  return 0;
}
