#include "cpo/shim/groups.h"

#include <unwind.h>

#include "cpo/shim/log.h"
#include "cpo/shim/modules.h"
#include "cpo/shim/plan.h"
#include "cpo/shim/state.h"
#include "cpo/shim/text.h"

namespace jprof::cpo {
namespace {

constexpr size_t kMostCallers = 4, kMostSteps = 64;
constexpr size_t kTextSize = 1200;  // four names of files, and their offsets

struct Callers {
  size_t steps = 0, count = 0;
  Text<kTextSize> key;
};

// Adds a frame's return address. Stops at code that belongs to no module, such as a JVM's.
_Unwind_Reason_Code AddCaller(_Unwind_Context* frame, void* data) {
  auto& callers = *static_cast<Callers*>(data);
  const uint64_t address = _Unwind_GetIP(frame);
  Module module;
  if (++callers.steps > kMostSteps || address == 0 || !FindModule(address - 1, &module))
    return _URC_NORMAL_STOP;
  if (IsTransparent(module)) return _URC_NO_REASON;
  LogModule(module);
  if (callers.count > 0) callers.key.Add("<");
  callers.key.Add(module.name).Add("+0x").AddNumber(address - module.map->l_addr, 16);
  return ++callers.count < kMostCallers ? _URC_NO_REASON : _URC_NORMAL_STOP;
}

}  // namespace

uint32_t GroupOf(const char* kind, const char* key) {
  const KeptErrno kept;
  Text<kTextSize + 16> text;
  text.Add(kind).Add(" ").Add(key);
  const uint64_t hash = HashOf(text.c_str(), text.size());
  for (size_t step = 0; step < kMostGroups; ++step) {
    const size_t at = (hash + step) % kMostGroups;
    uint64_t seen = __atomic_load_n(&g_state.groups[at], __ATOMIC_RELAXED);
    if (seen == 0 && __atomic_compare_exchange_n(&g_state.groups[at], &seen, hash, false,
                                                 __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
      const int directive = DirectiveOf(hash);
      __atomic_store_n(&g_state.directives[at], static_cast<uint16_t>(directive + 1),
                       __ATOMIC_RELAXED);
      WriteText(SlotKind::kGroup, static_cast<uint32_t>(at), text.c_str(), text.size());
      return static_cast<uint32_t>(at);
    }
    if (seen == hash) return static_cast<uint32_t>(at);
  }
  return kNoGroup;
}

uint32_t GroupOfCaller() {
  Callers callers;
  _Unwind_Backtrace(AddCaller, &callers);
  return GroupOf("site", callers.count > 0 ? callers.key.c_str() : "unknown");
}

int DirectiveOfGroup(uint32_t group) {
  if (group == kNoGroup) return -1;
  return __atomic_load_n(&g_state.directives[group], __ATOMIC_RELAXED) - 1;
}

}  // namespace jprof::cpo
