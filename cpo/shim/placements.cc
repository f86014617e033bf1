#include "cpo/shim/placements.h"

#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cpo/shim/glibc.h"
#include "cpo/shim/groups.h"
#include "cpo/shim/log.h"
#include "cpo/shim/maps.h"
#include "cpo/shim/pages.h"
#include "cpo/shim/plan.h"
#include "cpo/shim/small_file.h"
#include "cpo/shim/state.h"

namespace jprof::cpo {
namespace {

constexpr uint64_t kSecond = 1000000000;
constexpr uint64_t kMostShare = 1000;  // reading the process's map takes less than 1/1000 of time
constexpr uint64_t kArenaBytes = uint64_t{64} << 20;  // glibc's, and its alignment

// Returns the group of what malloc has for small blocks.
uint32_t HeapGroup() { return GroupOf("heap", "malloc"); }

// Logs the heap of the main arena, which grows by brk. What is new in it has been there since the
// last time at the earliest. Threads that see the same growth log it twice, which is harmless.
void LogHeap(uint64_t now) {
  const auto end = AddressOf(sbrk(0));
  const uint64_t before = __atomic_exchange_n(&g_state.heap_end, end, __ATOMIC_RELAXED);
  const uint64_t since = __atomic_exchange_n(&g_state.heap_time, now, __ATOMIC_RELAXED);
  if (before == 0 || before == end) return;
  if (end < before) return Write(SlotKind::kEnd, 0, end, before - end, now);
  const uint32_t group = HeapGroup();
  if (group != kNoGroup) Write(SlotKind::kFill, group, before, end - before, since);
}

// Logs the heap of another arena, if the area is one: it begins with a pointer to the arena, and
// contains its own size.
void LogArena(const Area& area, uint64_t since) {
  if (area.begin % kArenaBytes != 0 || area.end - area.begin > kArenaBytes) return;
  if (strncmp(area.rest, "rw-p 00000000 00:00 0", 21) != 0) return;
  const auto* const words = reinterpret_cast<const uint64_t*>(area.begin);
  if (words[0] == 0 || words[0] % 16 != 0 || words[2] > kArenaBytes ||
      words[2] < area.end - area.begin)
    return;
  const uint32_t group = HeapGroup();
  if (group == kNoGroup) return;
  Write(SlotKind::kFill, group, area.begin, area.end - area.begin, since);
}

void LogCounts(uint64_t now) {
  rusage used;
  if (getrusage(RUSAGE_SELF, &used) == 0)
    Write(SlotKind::kFaults, 0, static_cast<uint64_t>(used.ru_minflt),
          static_cast<uint64_t>(used.ru_majflt), now);
  LogOutcomes(now);
}

// The process's sums. Costs tens of microseconds and more, as the process is larger.
void LogTotal(uint64_t now) {
  uint64_t resident = 0, large = 0;
  ForEachLine("/proc/self/smaps_rollup", [&](const char* line) {
    if (strncmp(line, "Rss:", 4) == 0) resident = strtoull(line + 4, nullptr, 10) << 10;
    if (strncmp(line, "AnonHugePages:", 14) == 0) large = strtoull(line + 14, nullptr, 10) << 10;
    return true;
  });
  Write(SlotKind::kTotal, 0, large, resident, now);
}

}  // namespace

void LogBegin(uint32_t group, const void* memory, size_t bytes) {
  const KeptErrno kept;
  if (group != kNoGroup) Write(SlotKind::kBegin, group, AddressOf(memory), bytes, Now());
}

void LogEnd(const void* memory, size_t bytes) {
  const KeptErrno kept;
  Write(SlotKind::kEnd, 0, AddressOf(memory), bytes, Now());
}

void LogFreed(const void* memory, size_t bytes) { LogBegin(HeapGroup(), memory, bytes); }

void LogProgress() {
  const KeptErrno kept;
  const uint64_t now = Now();
  LogHeap(now);
  uint64_t due = __atomic_load_n(&g_state.next_report, __ATOMIC_RELAXED);
  if (now < due || !__atomic_compare_exchange_n(&g_state.next_report, &due, now + kSecond, false,
                                                __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    return;
  LogCounts(now);
  const uint64_t pause = (Now() - now) * kMostShare;
  if (pause > kSecond) __atomic_store_n(&g_state.next_report, now + pause, __ATOMIC_RELAXED);
}

void LogExit() {
  const KeptErrno kept;
  const uint64_t now = Now();
  const uint64_t since = __atomic_load_n(&g_state.heap_time, __ATOMIC_RELAXED);
  LogHeap(now);
  ForEachArea([&](const Area& area) {
    LogArena(area, since);
    return true;
  });
  LogCounts(now);
  LogTotal(now);
  Write(SlotKind::kExit, 0, 0, 0, now);
}

void BeginProgress() {
  const uint64_t now = Now();
  ForEachArea([&](const Area& area) {
    const char* const name = strchr(area.rest, '[');
    if (name == nullptr) return true;
    if (strcmp(name, "[heap]") == 0) g_state.heap_end = area.begin;
    if (strcmp(name, "[stack]") != 0) return true;
    rlimit limit;
    constexpr uint64_t kUsual = 8 << 20;
    const bool is_known = getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    const uint64_t bytes = is_known ? limit.rlim_cur : kUsual;
    const uint32_t group = GroupOf("stack", "main");
    if (bytes < area.end) Write(SlotKind::kBegin, group, area.end - bytes, bytes, now);
    return false;
  });
  if (g_state.heap_end == 0) g_state.heap_end = AddressOf(sbrk(0));
  g_state.heap_time = now;
  g_state.next_report = now + kSecond;
  LogHeap(now);
}

}  // namespace jprof::cpo
