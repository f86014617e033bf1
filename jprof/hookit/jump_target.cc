#include "jprof/hookit/jump_target.h"

#include <bit>
#include <cstddef>

namespace jprof::hookit {

// Returns the stack pointer of a jump target. By glibc's sysdeps/x86_64/jmpbuf-offsets.h and
// sysdeps/unix/sysv/linux/x86_64/pointer_guard.h, word 6 is the stack pointer, combined with the
// guard in the thread's control block and rotated.
uint64_t StackPointerOf([[maybe_unused]] const __jmp_buf_tag& target) {
#if defined(__x86_64__)
  constexpr int kStackPointer = 6, kRotation = 17;
  constexpr size_t kGuard = 0x30;
  const auto guard = *reinterpret_cast<const uint64_t*>(
      static_cast<const char*>(__builtin_thread_pointer()) + kGuard);
  const auto mangled = static_cast<uint64_t>(target.__jmpbuf[kStackPointer]);
  return std::rotr(mangled, kRotation) ^ guard;
#else
  return 0;
#endif
}

}  // namespace jprof::hookit
