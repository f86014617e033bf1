#include "jprof/hotspot/readable.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace jprof::hotspot {
namespace {

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

bool Readable::operator()(uint64_t address, uint64_t bytes) {
  const uint64_t last = address + bytes - 1;
  if (bytes == 0 || last < address || address >> kGranuleBits == 0) return false;
  return Granule(address) && (address >> kGranuleBits == last >> kGranuleBits || Granule(last));
}

bool Readable::Granule(uint64_t address) {
  const uint64_t number = address >> kGranuleBits;
  uint64_t& slot = good_[number % kSlots];
  if (slot == number) return true;
  if (!KernelCanRead(number << kGranuleBits)) return false;
  slot = number;
  return true;
}

}  // namespace jprof::hotspot
