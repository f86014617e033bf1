// Defines processor-dependent constants: DWARF's register numbers, and the layout of signal frames.
#pragma once

#include <cstdint>

namespace jprof::unwind {

struct Machine {
  uint64_t fp, sp, return_address;  // DWARF register numbers
  // Is true if the kernel's signal trampoline has incomplete unwind information, so that the
  // registers are taken from the frame that the kernel pushed. This is so on AArch64 only; x86-64's
  // trampoline, in libc, has complete information.
  bool kernel_signal_frame;
};

inline constexpr Machine kX86 = {6, 7, 16, false};
inline constexpr Machine kAArch64 = {29, 31, 30, true};

#if defined(__x86_64__)
inline constexpr const Machine& kThisMachine = kX86;
inline constexpr bool kHasLinkRegister = false;
inline constexpr uint64_t kAddressBits = ~uint64_t{0};
#elif defined(__aarch64__)
inline constexpr const Machine& kThisMachine = kAArch64;
inline constexpr bool kHasLinkRegister = true;
// The bits of an address. In a signed return address, the higher bits hold the pointer
// authentication code.
inline constexpr uint64_t kAddressBits = (uint64_t{1} << 48) - 1;
#else
#error "no unwinder for this processor"
#endif

}  // namespace jprof::unwind
