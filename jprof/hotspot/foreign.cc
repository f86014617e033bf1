#include "jprof/hotspot/foreign.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <bit>
#include <cerrno>

#include "jprof/hotspot/load.h"

namespace jprof::hotspot {
namespace {

constexpr int kPageBits = 12;

// The kernel reads the eight bytes of the signal set before it looks at `how`, which is wrong on
// purpose.
bool KernelCanRead(uint64_t address) {
  const int saved = errno;
  syscall(SYS_rt_sigprocmask, -1, address, nullptr, 8);
  const bool readable = errno != EFAULT;
  errno = saved;
  return readable;
}

}  // namespace

Foreign::Fetch Foreign::FetchOf(const LibjvmImage& image) {
  return std::bit_cast<Fetch>(image.Symbol("SafeFetchN_impl").begin);
}

bool Foreign::Word(uint64_t address, uint64_t* word) {
  if (address >> kPageBits == 0 || address >> 48 != 0) return false;  // no need to fault
  if (fetch_ == nullptr) {
    if (address >> kPageBits != page_ && !AskKernel(address)) return false;
    *word = LoadAt<uint64_t>(address);
    return true;
  }
  // What it answers may be what lies there.
  constexpr intptr_t kFault = 0x5afefe7c5afefe7c;
  const auto* at = reinterpret_cast<const intptr_t*>(address);
  intptr_t value = fetch_(at, kFault);
  if (value == kFault && (value = fetch_(at, ~kFault)) == ~kFault) return false;
  *word = static_cast<uint64_t>(value);
  return true;
}

bool Foreign::AskKernel(uint64_t address) {
  if (!KernelCanRead(address)) return false;
  page_ = address >> kPageBits;
  return true;
}

bool Foreign::Copy(uint64_t address, size_t bytes, uint8_t* out) {
  for (size_t i = 0; i < bytes; ++i) {
    if (!Load(address + i, &out[i])) return false;
  }
  return true;
}

bool Foreign::Reaches(uint64_t address, uint64_t bytes) {
  const uint64_t last = address + bytes - 1;
  uint8_t ignored;
  return bytes != 0 && last >= address && Load(address, &ignored) && Load(last, &ignored);
}

}  // namespace jprof::hotspot
