// Derives the state of a frame from the machine code around its pc. All processor-dependent
// code is in frame_code.cc. The functions read only their arguments and bytes that the caller
// knows to be readable.
#pragma once

#include <cstdint>

namespace jprof::hotspot {

// The words of an interpreter frame, counted from fp. They are the same in JDK 17 to 25
// (frame_x86.hpp, frame_aarch64.hpp).
struct InterpreterFrame {
  static constexpr int kSenderSp = -1;
  static constexpr int kMethod = -3;
#if defined(__aarch64__)
  static constexpr int kBcp = -9;
  static constexpr int kCallWrapper = -8;  // in the call stub's frame
#else
  static constexpr int kBcp = -8;
  static constexpr int kCallWrapper = -6;
#endif
};

// Is true if a call leaves its return address on the stack.
#if defined(__aarch64__)
inline constexpr bool kCallPushes = false;
#else
inline constexpr bool kCallPushes = true;
#endif

// The contents of the interpreter's registers at the point of interruption. They are 0 if unknown.
struct InterpreterRegisters {
  uint64_t bcp = 0;  // address in a bytecode
  // The caller's sp, the return address and the entered method, before the frame is complete.
  uint64_t entry_sp = 0, entry_return = 0, entry_method = 0;
  // The caller's sp and the return address, after the frame was removed.
  uint64_t leave_sp = 0, leave_return = 0;
};
// Reads the registers. `ucontext` is the third argument of the signal handler.
InterpreterRegisters InterpreterRegistersOf(const void* ucontext);

// The location of a frame's caller, in words from sp.
struct CallerPlace {
  int32_t return_address;  // -1 if in the link register
  int32_t fp;              // -1 if still in its register
  int32_t sp;
  bool operator==(const CallerPlace&) const = default;
};
constexpr CallerPlace CallerOfCompleteFrame(int32_t frame_words) {
  return {frame_words - 1, frame_words - 2, frame_words};
}

// Returns the caller of a compiled method with code [code, code + size), interrupted at offset
// `pc`. Its frame is complete from `complete` on.
CallerPlace CallerInCompiled(const uint8_t* code, uint32_t size, uint32_t pc, int64_t complete,
                             int32_t frame_words);

// Returns whether the instruction that ends at `at`, whose run-time address is `address`, is a
// call. Sets `target` to its destination, or to 0 if the instruction does not contain it. Reads at
// most kLongestCall bytes before `at`, and none before `begin`.
inline constexpr int kLongestCall = 13;
bool AfterCall(const uint8_t* begin, const uint8_t* at, uint64_t address, uint64_t* target);

// The numbers of bytes of code before and after an instruction that the functions below read.
inline constexpr int kFrameCodeBefore = 64, kFrameCodeAfter = 32;

// Returns how many words the instructions after a call pop first: those that were pushed for the
// call. Reads kFrameCodeAfter bytes.
int WordsPopped(const uint8_t* at, const uint8_t* end);

// Returns the offset in a method entry of the interpreter from which on fp is the new frame's, or
// -1 if the entry makes no frame.
int32_t FramePointerSet(const uint8_t* code, uint32_t size);

// Returns how far the interpreter has removed its frame at `at`: 0 if not at all, 1 if its return
// address is at sp, 2 if it is in leave_return. Reads kFrameCodeBefore bytes before `at` and
// kFrameCodeAfter from `at` on.
int FrameRemoved(const uint8_t* begin, const uint8_t* at, const uint8_t* end);

// Returns whether `at` is in the part of an adapter that calls the VM. An adapter into the
// interpreter whose method has been compiled lets the VM patch the caller, and saves all registers
// around that call. The state at the adapter's entry is then available by a register: x86's r13
// (sp), AArch64's x29 (its frame). Reads kAdapterCodeBefore bytes before `at`.
inline constexpr int kAdapterCodeBefore = 1024 + 8;
bool AdapterCallsVm(const uint8_t* begin, const uint8_t* at);

// Returns which word from sp holds that register, at the return address of that call. Returns -1 if
// the register is x29, which calls preserve in frames, or if this is not that call. Reads
// kFrameCodeAfter bytes.
int32_t AdapterSaved(const uint8_t* at, const uint8_t* end);

}  // namespace jprof::hotspot
