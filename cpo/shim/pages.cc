#include "cpo/shim/pages.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "cpo/shim/groups.h"
#include "cpo/shim/log.h"
#include "cpo/shim/page_set.h"
#include "cpo/shim/plan.h"
#include "cpo/shim/small_file.h"
#include "cpo/shim/state.h"

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25  // Linux 6.1
#endif

namespace jprof::cpo {
namespace {

constexpr char kSettings[] = "/sys/kernel/mm/transparent_hugepage/enabled";
constexpr char kSize[] = "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size";

// What this kernel has of large pages.
struct Large {
  uint64_t size;  // bytes; 0 if the kernel has none
  bool is_read, applies;
};
Large kernel;

size_t Places() {
  size_t places = 64;
  while (places < 2 * ThePlan().most_pages) places *= 2;
  return places;
}

// Requires the lock. The set's memory is made when the first page is advised.
bool HasSet() {
  if (g_state.pages == nullptr)
    g_state.pages = static_cast<uint64_t*>(MapZeros(Places() * sizeof(uint64_t)));
  if (g_state.pages == nullptr) return false;
  madvise(g_state.pages, Places() * sizeof(uint64_t), MADV_DONTFORK);
  return true;
}
PageSet TheSet() { return {g_state.pages, Places()}; }

struct Pages {
  uint64_t first, count;
};
Pages PagesIn(uint64_t begin, uint64_t bytes) {
  const uint64_t first = (begin + kernel.size - 1) / kernel.size,
                 end = (begin + bytes) / kernel.size;
  return {first, end > first ? end - first : 0};
}

// Takes pages from the directive's limit, from the first on. Returns how many of them are advised.
uint64_t Claim(int directive, Pages pages) {
  const TryLock lock;
  if (!lock || !HasSet()) return 0;
  PageSet set = TheSet();
  uint64_t& used = g_state.used[directive];
  for (uint64_t i = 0; i < pages.count; ++i) {
    if (set.Find(pages.first + i) >= 0) continue;
    if (used >= ThePlan().directives[directive].limit) return i;
    set.Insert(pages.first + i, directive);
    ++used;
  }
  return pages.count;
}

// Returns how many pages of the group may be advised, and logs those that may not.
uint64_t ClaimFor(uint32_t group, Pages pages) {
  const int directive = DirectiveOfGroup(group);
  if (directive < 0 || !AppliesDirectives() || pages.count == 0) return 0;
  const uint64_t claimed = Claim(directive, pages);
  if (claimed < pages.count)
    Write(SlotKind::kRefused, group, (pages.first + claimed) * kernel.size,
          (pages.count - claimed) * kernel.size, Now());
  return claimed;
}

void* FirstOf(Pages pages) { return reinterpret_cast<void*>(pages.first * kernel.size); }

// A part of the process's map, and how much of it is on large pages.
struct LargeArea {
  uint64_t begin = 0, end = 0, large = 0;
};

uint64_t FieldOf(const char* line) {  // in kB
  return strtoull(strchr(line, ':') + 1, nullptr, 10) << 10;
}

// Calls visit(area) for each area of the process with large pages.
template <class Visit>
void ForEachLargeArea(Visit visit) {
  LargeArea area;
  ForEachLine("/proc/self/smaps", [&](const char* line) {
    char* end = nullptr;
    const uint64_t begin = strtoull(line, &end, 16);
    if (end != line && *end == '-') {
      area = {begin, strtoull(end + 1, nullptr, 16), 0};
    } else if (strncmp(line, "AnonHugePages:", 14) == 0) {
      area.large = FieldOf(line);
      if (area.large > 0) visit(area);
    }
    return true;
  });
}

// Returns whether `is(directive)` holds for one of the pages that are advised. Returns false if the
// lock is taken.
template <class Is>
bool Any(uint64_t first, uint64_t last, Is is) {
  const TryLock lock;
  if (!lock) return false;
  for (uint64_t page = first; page <= last; ++page) {
    const int directive = TheSet().Find(page);
    if (directive >= 0 && is(directive)) return true;
  }
  return false;
}

}  // namespace

uint32_t LargePage() {
  if (kernel.is_read) return static_cast<uint32_t>(kernel.size);
  kernel.is_read = true;
  char text[128];
  if (ReadFile(kSize, text, sizeof text) > 0) kernel.size = strtoull(text, nullptr, 10);
  if (kernel.size < 4096) kernel.size = 0;
  ReadFile(kSettings, text, sizeof text);
  kernel.applies = kernel.size > 0 && strstr(text, "[never]") == nullptr && text[0] != '\0';
  return static_cast<uint32_t>(kernel.size);
}

bool AppliesDirectives() { return kernel.applies && ThePlan().count > 0; }

bool MayAdvise(uint32_t group) {
  const int directive = DirectiveOfGroup(group);
  return directive >= 0 && AppliesDirectives() &&
         __atomic_load_n(&g_state.used[directive], __ATOMIC_RELAXED) <
             ThePlan().directives[directive].limit;
}

bool Advise(uint32_t group, uint64_t begin, uint64_t bytes) {
  if (kernel.size == 0) return false;
  const Pages pages = PagesIn(begin, bytes), claimed = {pages.first, ClaimFor(group, pages)};
  if (claimed.count == 0) return false;
  void* const memory = reinterpret_cast<void*>(begin);
  if (claimed.count == pages.count && madvise(memory, bytes, MADV_HUGEPAGE) == 0) return true;
  return madvise(FirstOf(claimed), claimed.count * kernel.size, MADV_HUGEPAGE) == 0;
}

void AdviseUsed(uint32_t group, uint64_t begin, uint64_t bytes) {
  if (kernel.size == 0) return;
  Pages pages = PagesIn(begin, bytes);
  pages.count = ClaimFor(group, pages);
  if (pages.count == 0 || madvise(FirstOf(pages), pages.count * kernel.size, MADV_HUGEPAGE) != 0)
    return;
  for (uint64_t i = 0; i < pages.count; ++i)  // a page that cannot be moved ends a longer request
    madvise(FirstOf({pages.first + i, 1}), kernel.size, MADV_COLLAPSE);
}

bool HasLargePages(uint64_t begin, uint64_t bytes) {
  if (g_state.pages == nullptr || bytes == 0) return false;
  return Any(begin / kernel.size, (begin + bytes - 1) / kernel.size, [](int) { return true; });
}

void ForgetPages(uint64_t begin, uint64_t bytes) {
  if (g_state.pages == nullptr || bytes == 0) return;
  const KeptErrno kept;
  const uint64_t first = begin / kernel.size, last = (begin + bytes - 1) / kernel.size;
  // What a directive has got is logged before its first pages go.
  if (Any(first, last, [](int directive) { return !g_state.has_outcome[directive]; }))
    LogOutcomes(Now());
  const TryLock lock;
  if (!lock) return;
  PageSet set = TheSet();
  for (uint64_t page = first; page <= last; ++page) {
    const int directive = set.Find(page);
    if (directive < 0) continue;
    set.Remove(page);
    --g_state.used[directive];
  }
}

void LogOutcomes(uint64_t now) {
  if (g_state.pages == nullptr) return;
  uint64_t got[kMostDirectives] = {};  // bytes
  {
    const TryLock lock;
    if (!lock) return;
    ForEachLargeArea([&](const LargeArea& area) {
      uint64_t all = 0;
      const auto visit_inside = [&](auto visit) {
        TheSet().ForEach([&](uint64_t page, int directive) {
          const uint64_t begin = page * kernel.size;
          if (begin >= area.begin && begin + kernel.size <= area.end) visit(directive);
        });
      };
      visit_inside([&](int) { ++all; });
      if (all == 0) return;
      // An area of several directives, or in parts not advised: what it has is divided equally.
      const uint64_t each = area.large / all < kernel.size ? area.large / all : kernel.size;
      visit_inside([&](int directive) { got[directive] += each; });
    });
  }
  for (uint32_t group = 0; group < kMostGroups; ++group) {
    const int directive = DirectiveOfGroup(group);
    if (directive < 0) continue;
    g_state.has_outcome[directive] = true;
    Write(SlotKind::kOutcome, group, g_state.used[directive] * kernel.size, got[directive], now);
  }
}

}  // namespace jprof::cpo
