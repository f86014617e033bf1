#include "jprof/hookit/sled_code.h"

#if defined(__x86_64__)

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "common/errno_text.h"

extern "C" {
// These are defined in sled_code_x86_64.S.
void jprof_entry_sled();
void jprof_exit_sled();
void jprof_tail_sled();
}

namespace jprof::hookit {
namespace {

constexpr uint64_t kReach = 1ull << 30;  // of a jump, less the size of a module

// Makes a page of jumps within reach of the module's code. It is below the module, because the
// program's heap is above the program. Returns its address.
Result<uint64_t> MakePage(const SledModule& module) {
  void* page = MAP_FAILED;
  for (uint64_t at = module.begin & ~(kPage - 1); page == MAP_FAILED;) {
    at -= kPage;
    if (at < 16 * kPage || module.end - at > kReach) return Fail("there is no room near its code");
    page = mmap(reinterpret_cast<void*>(at), kPage, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  }
  auto* const code = static_cast<uint8_t*>(page);
  WriteStub(code, jprof_entry_sled);
  WriteStub(code + kStubBytes, jprof_exit_sled);
  WriteStub(code + 2 * kStubBytes, jprof_tail_sled);
  if (mprotect(page, kPage, PROT_READ | PROT_EXEC) != 0) {
    const int error = errno;
    munmap(page, kPage);
    return Fail("no code can be added: {}", ErrnoText(error));
  }
  return reinterpret_cast<uint64_t>(page);
}

}  // namespace

void WriteStub(uint8_t* at, void (*target)()) {
  constexpr uint8_t kJump[] = {0xff, 0x25, 0, 0, 0, 0};  // jmp *0(%rip)
  std::memcpy(at, kJump, sizeof kJump);
  std::memcpy(at + sizeof kJump, &target, sizeof target);
}

Result<Stubs> StubsFor(const SledModule& module) {
  static auto* const pages = new std::vector<uint64_t>;  // of stubs, which are all alike
  const auto near = std::ranges::find_if(*pages, [&](uint64_t page) {
    return std::max(module.end, page + kPage) - std::min(module.begin, page) <= kReach;
  });
  const auto page = near != pages->end() ? *near : MakePage(module);
  if (!page) return std::unexpected(page.error());
  if (near == pages->end()) pages->push_back(*page);
  const auto* const code = reinterpret_cast<const uint8_t*>(*page);
  return Stubs{code, code + kStubBytes, code + 2 * kStubBytes};
}

void PatchSled(uint8_t* sled, uint32_t number, const uint8_t* target, bool call) {
  uint8_t code[kSledBytes] = {0x68};
  std::memcpy(code + 1, &number, sizeof number);
  code[5] = call ? 0xe8 : 0xe9;
  const auto distance = static_cast<int32_t>(target - (sled + kSledBytes - 1));
  std::memcpy(code + 6, &distance, sizeof distance);
  code[10] = 0x90;
  // The first two bytes are written last: until then the sled is as before for a thread that
  // executes it.
  std::memcpy(sled + 2, code + 2, kSledBytes - 2);
  uint16_t first;
  std::memcpy(&first, code, sizeof first);
  __atomic_store_n(reinterpret_cast<uint16_t*>(sled), first, __ATOMIC_RELEASE);
}

bool IsSled(const uint8_t* at, uint8_t kind) {
  return kind == kExit ? at[0] == 0xc3 : at[0] == 0xeb && at[1] == kSledBytes - 2;
}

bool LeavesFunction(const uint8_t* code) {
  while (*code == 0x2e || *code == 0x3e || (*code & 0xf0) == 0x40) ++code;  // prefixes
  constexpr uint8_t kJump = 4;  // in a ModRM byte behind 0xff
  return *code == 0xe9 || *code == 0xeb || (*code == 0xff && (code[1] >> 3 & 7) == kJump);
}

}  // namespace jprof::hookit

#endif
