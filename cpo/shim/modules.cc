#include "cpo/shim/modules.h"

#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

#include "cpo/shim/groups.h"
#include "cpo/shim/log.h"
#include "cpo/shim/pages.h"
#include "cpo/shim/plan.h"
#include "cpo/shim/state.h"
#include "cpo/shim/text.h"

namespace jprof::cpo {
namespace {

constexpr char kOwnName[] = "libjprof-pages.so";

bool BeginsWith(const char* text, const char* with) {
  return strncmp(text, with, strlen(with)) == 0;
}

// Returns whether the module is new to the log.
bool Remember(const Module& module) {
  const uint64_t hash = HashOf(module.name, strlen(module.name)) ^ module.begin;
  for (size_t i = 0; i < kMostModules; ++i) {
    uint64_t seen = 0;
    if (__atomic_compare_exchange_n(&g_state.module_hashes[i], &seen, hash, false, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED))
      return true;
    if (seen == hash) return false;
  }
  return false;
}

// Logs the memory of a writable segment. What is beyond its file is anonymous, and can be on large
// pages.
void LogSegment(const Module& module, const ElfW(Phdr) & segment) {
  const uint64_t begin = module.map->l_addr + segment.p_vaddr, end = begin + segment.p_memsz;
  if (segment.p_memsz < ThePlan().threshold || BeginsWith(module.name, kOwnName)) return;
  const uint32_t group = GroupOf("static", module.name);
  if (group == kNoGroup) return;
  Write(SlotKind::kBegin, group, begin, end - begin, Now());
  const uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t anonymous = (begin + segment.p_filesz + page - 1) / page * page;
  if (anonymous < end) Advise(group, anonymous, (end + page - 1) / page * page - anonymous);
}

}  // namespace

bool FindModule(uint64_t address, Module* module) {
  dl_find_object found;
  if (_dl_find_object(reinterpret_cast<void*>(address), &found) != 0) return false;
  if (found.dlfo_link_map == nullptr) return false;
  module->map = found.dlfo_link_map;
  module->begin = reinterpret_cast<uint64_t>(found.dlfo_map_start);
  module->end = reinterpret_cast<uint64_t>(found.dlfo_map_end);
  module->path = module->map->l_name;
  if (module->path == nullptr || *module->path == '\0') module->path = g_state.program;
  module->name = NameOf(module->path);
  return true;
}

bool IsTransparent(const Module& module) {
  static const char* const kNames[] = {"libc.so.",     "libstdc++.so", "libgcc_s.so",   "libc++.so",
                                       "libc++abi.so", "ld-linux",     "libpthread.so", kOwnName};
  if (!BeginsWith(module.name, "l")) return false;
  for (const char* const name : kNames) {
    if (BeginsWith(module.name, name)) return true;
  }
  return false;
}

void LogModule(const Module& module) {
  if (!Remember(module)) return;
  const uint32_t number = __atomic_fetch_add(&g_state.modules, 1, __ATOMIC_RELAXED);
  Text<PATH_MAX + 64> text;
  text.AddNumber(module.begin, 16).Add(" ").AddNumber(module.end - module.begin, 16).Add(" ");
  text.Add(module.path);
  WriteText(SlotKind::kModule, number, text.c_str(), text.size());
  const auto* const header = reinterpret_cast<const ElfW(Ehdr)*>(module.begin);
  if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return;
  const auto* const segments = reinterpret_cast<const ElfW(Phdr)*>(module.begin + header->e_phoff);
  for (size_t i = 0; i < header->e_phnum; ++i) {
    if (segments[i].p_type == PT_LOAD && (segments[i].p_flags & PF_W) != 0)
      LogSegment(module, segments[i]);
  }
}

void LogAllModules() {
  for (const link_map* map = _r_debug.r_map; map != nullptr; map = map->l_next) {
    Module module;
    const auto inside = reinterpret_cast<uint64_t>(map->l_ld);  // the dynamic section
    if (FindModule(inside, &module)) LogModule(module);
  }
}

}  // namespace jprof::cpo
