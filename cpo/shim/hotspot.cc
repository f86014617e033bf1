#include "cpo/shim/hotspot.h"

#include <dlfcn.h>
#include <string.h>

#include "cpo/shim/groups.h"
#include "cpo/shim/log.h"
#include "cpo/shim/maps.h"
#include "cpo/shim/modules.h"
#include "cpo/shim/pages.h"
#include "cpo/shim/state.h"

namespace jprof::cpo {
namespace {

enum Number { kJavaHeap, kCodeCache, kClassSpace };
constexpr const char* kKinds[] = {"java-heap", "code-cache", "class-space"};

struct Range {
  uint64_t begin = 0, end = 0;
};

template <class T>
T At(uint64_t address) {
  T value;
  memcpy(&value, reinterpret_cast<const void*>(address), sizeof value);
  return value;
}

// The tables that libjvm.so exports for its serviceability agent (jprof/hotspot/vm/vm_structs.h),
// read without allocation.
class VmTables {
 public:
  explicit VmTables(const link_map* libjvm) : library_(libjvm) {}

  // Returns the offset of a field, or the address of a static one, or 0 if there is none. No field
  // that is looked up has the offset 0.
  uint64_t Find(const char* type, const char* field) const {
    const uint64_t table = Exported("gHotSpotVMStructs");
    const uint64_t type_at = Exported("gHotSpotVMStructEntryTypeNameOffset"),
                   name_at = Exported("gHotSpotVMStructEntryFieldNameOffset"),
                   static_at = Exported("gHotSpotVMStructEntryIsStaticOffset"),
                   offset_at = Exported("gHotSpotVMStructEntryOffsetOffset"),
                   address_at = Exported("gHotSpotVMStructEntryAddressOffset"),
                   stride = Exported("gHotSpotVMStructEntryArrayStride");
    if (table == 0 || stride == 0) return 0;
    for (uint64_t at = table; At<const char*>(at + type_at) != nullptr; at += stride) {
      if (strcmp(At<const char*>(at + type_at), type) != 0) continue;
      if (strcmp(At<const char*>(at + name_at), field) != 0) continue;
      const bool is_static = At<int32_t>(at + static_at) != 0;
      return At<uint64_t>(at + (is_static ? address_at : offset_at));
    }
    return 0;
  }
  uint64_t SizeOf(const char* type) const {
    const uint64_t table = Exported("gHotSpotVMTypes");
    const uint64_t name_at = Exported("gHotSpotVMTypeEntryTypeNameOffset"),
                   size_at = Exported("gHotSpotVMTypeEntrySizeOffset"),
                   stride = Exported("gHotSpotVMTypeEntryArrayStride");
    if (table == 0 || stride == 0) return 0;
    for (uint64_t at = table; At<const char*>(at + name_at) != nullptr; at += stride) {
      if (strcmp(At<const char*>(at + name_at), type) == 0) return At<uint64_t>(at + size_at);
    }
    return 0;
  }

 private:
  uint64_t Exported(const char* name) const {
    void* const variable = dlsym(const_cast<link_map*>(library_), name);
    return variable != nullptr ? At<uint64_t>(reinterpret_cast<uint64_t>(variable)) : 0;
  }

  const link_map* library_;
};

Range JavaHeap(const VmTables& tables) {
  const uint64_t at = tables.Find("Universe", "_collectedHeap");
  const uint64_t heap = at != 0 ? At<uint64_t>(at) : 0;
  const uint64_t reserved = tables.Find("CollectedHeap", "_reserved");
  if (heap == 0 || reserved == 0) return {};
  // MemRegion: the first word's address, and the number of words.
  const auto begin = At<uint64_t>(heap + reserved), words = At<uint64_t>(heap + reserved + 8);
  if (begin == 0 || words > UINT64_MAX / 16) return {};
  return {begin, begin + 8 * words};
}

Range CodeCache(const VmTables& tables) {
  const uint64_t low = tables.Find("CodeCache", "_low_bound"),
                 high = tables.Find("CodeCache", "_high_bound");
  if (low == 0 || high == 0) return {};
  return {At<uint64_t>(low), At<uint64_t>(high)};
}

// Returns the value of the VM's flag of a number of bytes, or 0.
uint64_t FlagOf(const VmTables& tables, const char* flag) {
  const uint64_t flags = tables.Find("JVMFlag", "flags"),
                 count = tables.Find("JVMFlag", "numFlags");
  const uint64_t name_at = tables.Find("JVMFlag", "_name"), stride = tables.SizeOf("JVMFlag");
  const uint64_t value_at = tables.Find("JVMFlag", "_addr");
  if (flags == 0 || count == 0 || stride == 0) return 0;
  const auto all = At<uint64_t>(flags);
  for (uint64_t i = 0, many = At<uint64_t>(count); i < many; ++i) {
    const uint64_t at = all + i * stride;
    const auto* const name = At<const char*>(at + name_at);
    if (name != nullptr && strcmp(name, flag) == 0)
      return At<uint64_t>(At<uint64_t>(at + value_at));
  }
  return 0;
}

// The space is behind the archive of classes, if there is one, which begins at the base of
// compressed pointers to classes. Without a base it is not known.
Range ClassSpace(const VmTables& tables) {
  uint64_t base_at = tables.Find("CompressedKlassPointers", "_base");
  if (base_at == 0) base_at = tables.Find("CompressedKlassPointers", "_narrow_klass._base");
  const uint64_t base = base_at != 0 ? At<uint64_t>(base_at) : 0;
  const uint64_t bytes = base != 0 ? FlagOf(tables, "CompressedClassSpaceSize") : 0;
  if (bytes == 0) return {};
  constexpr uint64_t kAlignment = 16 << 20;
  uint64_t begin = base;
  ForEachArea([&](const Area& area) {
    if (area.begin >= base && strstr(area.rest, ".jsa") != nullptr)
      begin = (area.end + kAlignment - 1) / kAlignment * kAlignment;
    return area.begin < base + bytes;
  });
  return {begin, begin + bytes};
}

// Logs a region that is new, and advises those parts of it that are in use.
void Enter(Number number, Range range) {
  if (range.begin == 0 || range.end <= range.begin) return;
  const uint32_t group = GroupOf(kKinds[number], "HotSpot");
  if (group == kNoGroup) return;
  Write(SlotKind::kBegin, group, range.begin, range.end - range.begin, Now());
  Region& region = g_state.regions[number];
  region.begin = range.begin;
  region.group = group;
  __atomic_store_n(&region.end, range.end, __ATOMIC_RELEASE);
  if (!MayAdvise(group)) return;
  ForEachArea([&](const Area& area) {
    const uint64_t begin = area.begin > range.begin ? area.begin : range.begin;
    const uint64_t end = area.end < range.end ? area.end : range.end;
    if (begin < end && area.rest[1] == 'w') AdviseUsed(group, begin, end - begin);
    return area.begin < range.end;
  });
}

bool IsKnown(Number number) {
  return __atomic_load_n(&g_state.regions[number].end, __ATOMIC_ACQUIRE) != 0;
}

}  // namespace

void LookAtHotSpot(uint64_t caller) {
  if (IsKnown(kJavaHeap) && IsKnown(kCodeCache) && IsKnown(kClassSpace)) return;
  Module module;
  if (!FindModule(caller, &module) || strcmp(module.name, "libjvm.so") != 0) return;
  const VmTables tables(module.map);
  if (!IsKnown(kJavaHeap)) Enter(kJavaHeap, JavaHeap(tables));
  if (!IsKnown(kCodeCache)) Enter(kCodeCache, CodeCache(tables));
  // The base is set before the heap is made, and its first value may be another.
  if (!IsKnown(kClassSpace) && IsKnown(kJavaHeap)) Enter(kClassSpace, ClassSpace(tables));
}

bool IsHotSpotMemory(void* memory, size_t bytes, int protection) {
  const auto begin = reinterpret_cast<uint64_t>(memory);
  for (const Region& region : g_state.regions) {
    const uint64_t end = __atomic_load_n(&region.end, __ATOMIC_ACQUIRE);
    if (begin < region.begin || begin + bytes > end) continue;
    const KeptErrno kept;
    if (protection != PROT_NONE) Advise(region.group, begin, bytes);
    return true;
  }
  return false;
}

}  // namespace jprof::cpo
