#include "jprof/hotspot/vm/memory_reader.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <bit>
#include <cerrno>

namespace jprof::hotspot {
namespace {

constexpr int kPageBits = 12;

// Returns whether the kernel can read at an address. It reads the eight bytes of the signal set
// before it checks `how`, which is deliberately invalid.
bool KernelCanRead(uint64_t address) {
  const int saved = errno;
  syscall(SYS_rt_sigprocmask, -1, address, nullptr, 8);
  const bool readable = errno != EFAULT;
  errno = saved;
  return readable;
}

}  // namespace

MemoryReader::Fetch MemoryReader::FetchOf(const LibjvmImage& image) {
  return std::bit_cast<Fetch>(image.Symbol("SafeFetchN_impl").begin);
}

bool MemoryReader::Word(uint64_t address, uint64_t* word) {
  if (address >> kPageBits == 0 || address >> 48 != 0) return false;  // invalid: avoid a fault
  if (source_ != nullptr) [[unlikely]]
    return ReadSource(address, sizeof *word, word);
  if (fetch_ == nullptr) {
    if (address >> kPageBits != page_ && !QueryKernel(address)) return false;
    *word = LoadAt<uint64_t>(address);
    return true;
  }
  // The value that indicates a fault may also be the one in memory, so a second value is tried.
  constexpr intptr_t kFault = 0x5afefe7c5afefe7c;
  const auto* at = reinterpret_cast<const intptr_t*>(address);
  intptr_t value = fetch_(at, kFault);
  if (value == kFault && (value = fetch_(at, ~kFault)) == ~kFault) return false;
  *word = static_cast<uint64_t>(value);
  return true;
}

bool MemoryReader::QueryKernel(uint64_t address) {
  if (!KernelCanRead(address)) return false;
  page_ = address >> kPageBits;
  return true;
}

bool MemoryReader::Copy(uint64_t address, size_t bytes, uint8_t* out) {
  for (size_t i = 0; i < bytes; ++i) {
    if (!Load(address + i, &out[i])) return false;
  }
  return true;
}

bool MemoryReader::Reaches(uint64_t address, uint64_t bytes) {
  const uint64_t last = address + bytes - 1;
  uint8_t ignored;
  return bytes != 0 && last >= address && Load(address, &ignored) && Load(last, &ignored);
}

bool MemoryReader::IsNativeCode(const unwind::Unwinder& unwinder, uint64_t pc) const {
  if (source_ != nullptr) [[unlikely]]
    return IsSourceCode(pc);
  unwind::Function function;
  return unwinder.FunctionAt(pc, &function);
}

// These functions are cold and not inlined: a walk of the live process contains no call through a
// pointer except that of SafeFetchN (tests/e2e/signal_safe_test.py).
[[gnu::noinline, gnu::cold]] bool MemoryReader::ReadSource(uint64_t address, size_t bytes,
                                                           void* out) const {
  return source_->Read(address, bytes, out);
}
[[gnu::noinline, gnu::cold]] const uint8_t* MemoryReader::SourceBytes(uint64_t begin,
                                                                      uint64_t end) const {
  return source_->Bytes(begin, end);
}
[[gnu::noinline, gnu::cold]] const char* MemoryReader::SourceText(uint64_t address) const {
  return source_->Text(address);
}
[[gnu::noinline, gnu::cold]] unwind::Unwinder::Step MemoryReader::NextInSource(
    unwind::Registers& registers, const unwind::StackBounds& stack, bool interrupted,
    uint64_t* function) const {
  return source_->NextNative(registers, stack, interrupted, function);
}
[[gnu::noinline, gnu::cold]] bool MemoryReader::IsSourceCode(uint64_t pc) const {
  return source_->IsNativeCode(pc);
}

}  // namespace jprof::hotspot
