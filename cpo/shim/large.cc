#include "cpo/shim/large.h"

#include <stdint.h>
#include <string.h>

#include "cpo/shim/glibc.h"
#include "cpo/shim/groups.h"
#include "cpo/shim/pages.h"
#include "cpo/shim/placements.h"
#include "cpo/shim/plan.h"
#include "cpo/shim/state.h"

namespace jprof::cpo {
namespace {

// Returns a block at the beginning of a large page, whose pages are large as far as the directive's
// limit allows. Returns null if the group has no directive, or if there is no memory for that.
void* OnLargePages(uint32_t group, size_t alignment, size_t bytes) {
  const size_t page = LargePage();
  if (!MayAdvise(group) || bytes > SIZE_MAX / 2) return nullptr;
  const KeptErrno kept;
  const size_t whole = (bytes + page - 1) / page * page;
  void* const block = __libc_memalign(alignment > page ? alignment : page, whole);
  if (block != nullptr) Advise(group, AddressOf(block), whole);
  return block;
}

void* Begun(uint32_t group, void* block, size_t bytes) {
  if (block == nullptr) return nullptr;
  LogBegin(group, block, bytes);
  LogProgress();
  return block;
}

// Logs that a block is about to be freed: before it is, because another thread may get its memory
// at once.
void End(const void* block) {
  const size_t bytes = UsableBytes(block);
  if (!IsLogged(bytes)) return;
  if (!IsMapped(block)) return LogFreed(block, bytes);
  LogEnd(block, bytes);
  ForgetPages(AddressOf(block), bytes);
}

// Enlarges or reduces a block of a group with a directive by getting another one. Returns null if
// it must be done in another way.
void* Moved(uint32_t group, void* block, size_t bytes) {
  void* const made = OnLargePages(group, 0, bytes);
  if (made == nullptr || block == nullptr) return made;
  const size_t held = UsableBytes(block);
  memcpy(made, block, held < bytes ? held : bytes);
  End(block);
  __libc_free(block);
  return made;
}

// Returns whether a block on large pages has the right size as it is.
bool Fits(const void* block, size_t bytes) {
  if (block == nullptr || AddressOf(block) % LargePage() != 0) return false;
  const size_t held = UsableBytes(block);
  return bytes <= held && bytes > held / 2;
}

}  // namespace

bool IsLogged(size_t bytes) { return bytes >= ThePlan().threshold; }

void* LargeMalloc(size_t bytes) {
  const Inside inside;
  if (!inside || !IsOn() || !IsLogged(bytes)) return __libc_malloc(bytes);
  const uint32_t group = GroupOfCaller();
  void* block = OnLargePages(group, 0, bytes);
  if (block == nullptr) block = __libc_malloc(bytes);
  return Begun(group, block, bytes);
}

void* LargeCalloc(size_t bytes) {
  const Inside inside;
  if (!inside || !IsOn() || !IsLogged(bytes)) return __libc_calloc(1, bytes);
  const uint32_t group = GroupOfCaller();
  void* block = OnLargePages(group, 0, bytes);
  if (block == nullptr) {
    block = __libc_calloc(1, bytes);
  } else if (!IsMapped(block)) {  // else it is new, and zero
    memset(block, 0, bytes);
  }
  return Begun(group, block, bytes);
}

void* LargeAligned(size_t alignment, size_t bytes) {
  const Inside inside;
  if (!inside || !IsOn() || !IsLogged(bytes)) return __libc_memalign(alignment, bytes);
  const uint32_t group = GroupOfCaller();
  void* block = OnLargePages(group, alignment, bytes);
  if (block == nullptr) block = __libc_memalign(alignment, bytes);
  return Begun(group, block, bytes);
}

void* LargeRealloc(void* block, size_t bytes) {
  const Inside inside;
  if (!inside || !IsOn()) return __libc_realloc(block, bytes);
  const bool is_large = IsLogged(bytes);
  const uint32_t group = is_large ? GroupOfCaller() : kNoGroup;
  if (DirectiveOfGroup(group) >= 0) {
    void* const moved = Fits(block, bytes) ? block : Moved(group, block, bytes);
    if (moved != nullptr) return Begun(group, moved, bytes);
  }
  const size_t before = block != nullptr ? UsableBytes(block) : 0;
  if (block != nullptr) End(block);
  void* const made = __libc_realloc(block, bytes);
  if (made == nullptr && bytes > 0 && IsLogged(before)) LogBegin(group, block, before);
  return is_large ? Begun(group, made, bytes) : made;
}

void LargeFree(void* block) {
  const Inside inside;
  if (inside && IsOn()) {
    End(block);
    LogProgress();
  }
  __libc_free(block);
}

}  // namespace jprof::cpo
