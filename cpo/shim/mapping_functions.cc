// The functions of mmap's family that libjprof-pages.so replaces. Each calls the kernel and sets
// errno as the C library's does.
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include "cpo/shim/glibc.h"
#include "cpo/shim/groups.h"
#include "cpo/shim/hotspot.h"
#include "cpo/shim/large.h"
#include "cpo/shim/pages.h"
#include "cpo/shim/placements.h"
#include "cpo/shim/state.h"
#include "cpo/shim/system.h"

#define JPROF_EXPORTED extern "C" [[gnu::visibility("default")]]

namespace jprof::cpo {
namespace {

constexpr int kFixed = MAP_FIXED | MAP_FIXED_NOREPLACE;

bool IsPrivateMemory(int flags) {
  return (flags & MAP_ANONYMOUS) != 0 && (flags & MAP_PRIVATE) != 0 &&
         (flags & (MAP_HUGETLB | MAP_GROWSDOWN | MAP_STACK)) == 0;
}

// Maps more than is wanted, and unmaps what is before the first large page and behind the end.
// Returns null if that fails.
void* MapAligned(size_t bytes, int protection, int flags) {
  const size_t large = LargePage();
  if (bytes > SIZE_MAX / 2) return nullptr;
  void* const whole = Map(nullptr, bytes + large, protection, flags, -1, 0);
  if (whole == MAP_FAILED) return nullptr;
  const uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t begin = AddressOf(whole), end = begin + bytes + large;
  const uint64_t first = (begin + large - 1) / large * large;
  const uint64_t last = first + (bytes + page - 1) / page * page;
  if (first > begin) Unmap(whole, first - begin);
  if (end > last) Unmap(reinterpret_cast<void*>(last), end - last);
  return reinterpret_cast<void*>(first);
}

void* MapLogged(void* where, size_t bytes, int protection, int flags, int file, off_t at) {
  const uint32_t group = GroupOfCaller();
  const bool is_fixed = (flags & kFixed) != 0;
  void* memory = nullptr;
  if (where == nullptr && !is_fixed && protection != PROT_NONE && MayAdvise(group)) {
    const KeptErrno kept;
    memory = MapAligned(bytes, protection, flags);
  }
  if (memory == nullptr) memory = Map(where, bytes, protection, flags, file, at);
  if (memory == MAP_FAILED) return memory;
  if (is_fixed) ForgetPages(AddressOf(memory), bytes);
  if (IsHotSpotMemory(memory, bytes, protection)) return memory;
  LogBegin(group, memory, bytes);
  if (protection != PROT_NONE) {
    const KeptErrno kept;
    Advise(group, AddressOf(memory), bytes);
  }
  LogProgress();
  return memory;
}

void* MapFor(void* where, size_t bytes, int protection, int flags, int file, off_t at) {
  if (IsSmall(bytes) || !IsPrivateMemory(flags))
    return Map(where, bytes, protection, flags, file, at);
  const Inside inside;
  if (!inside || !IsOn() || !IsLogged(bytes)) return Map(where, bytes, protection, flags, file, at);
  return MapLogged(where, bytes, protection, flags, file, at);
}

int UnmapFor(void* memory, size_t bytes) {
  const Inside inside;
  if (IsSmall(bytes) || !inside || !IsOn() || !IsLogged(bytes)) return Unmap(memory, bytes);
  LogEnd(memory, bytes);  // before another thread can get it
  ForgetPages(AddressOf(memory), bytes);
  return Unmap(memory, bytes);
}

void* Remap(void* memory, size_t before, size_t bytes, int flags, void* to) {
  return reinterpret_cast<void*>(syscall(SYS_mremap, memory, before, bytes, flags, to));
}

// Moves a mapping of which a part is advised, which the kernel refuses to move: it is several. The
// kernel's errors are those of the caller then.
void* Copy(void* memory, size_t before, size_t bytes, int flags) {
  if (errno != EFAULT || flags != MREMAP_MAYMOVE || before == 0 || bytes <= before)
    return MAP_FAILED;
  const KeptErrno kept;
  if (!HasLargePages(AddressOf(memory), before)) return MAP_FAILED;
  void* const made =
      Map(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (made == MAP_FAILED) return made;
  memcpy(made, memory, before);
  Unmap(memory, before);
  return made;
}

void* MoveFor(void* memory, size_t before, size_t bytes, int flags, void* to) {
  const Inside inside;
  if ((IsSmall(bytes) && IsSmall(before)) || !inside || !IsOn() ||
      !(IsLogged(bytes) || IsLogged(before)))
    return Remap(memory, before, bytes, flags, to);
  const uint32_t group = GroupOfCaller();
  void* moved = Remap(memory, before, bytes, flags, to);
  if (moved == MAP_FAILED) moved = Copy(memory, before, bytes, flags);
  if (moved == MAP_FAILED) return moved;
  const KeptErrno kept;
  if (before > 0) {
    LogEnd(memory, before);
    ForgetPages(AddressOf(memory), before);
  }
  LogBegin(group, moved, bytes);
  Advise(group, AddressOf(moved), bytes);
  return moved;
}

}  // namespace
}  // namespace jprof::cpo

using namespace jprof::cpo;

JPROF_EXPORTED void* mmap(void* where, size_t bytes, int protection, int flags, int file,
                          off_t at) noexcept {
  return MapFor(where, bytes, protection, flags, file, at);
}

JPROF_EXPORTED void* mmap64(void* where, size_t bytes, int protection, int flags, int file,
                            off64_t at) noexcept {
  return MapFor(where, bytes, protection, flags, file, at);
}

JPROF_EXPORTED int munmap(void* memory, size_t bytes) noexcept { return UnmapFor(memory, bytes); }

JPROF_EXPORTED void* mremap(void* memory, size_t before, size_t bytes, int flags, ...) noexcept {
  va_list more;
  va_start(more, flags);
  void* const to = (flags & MREMAP_FIXED) != 0 ? va_arg(more, void*) : nullptr;
  va_end(more);
  return MoveFor(memory, before, bytes, flags, to);
}
