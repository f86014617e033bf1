// Derives the state of a frame from the machine code around its pc. All processor-dependent code is
// in frame_code.cc. All functions are pure, over bytes that the caller knows to be readable.
#pragma once

#include <cstdint>

namespace jprof::hotspot {

// Words of an interpreter frame, counted from fp; the same in JDK 17 to 25 (frame_x86.hpp,
// frame_aarch64.hpp).
struct InterpreterFrame {
  static constexpr int kSenderSp = -1;
  static constexpr int kMethod = -3;
#if defined(__aarch64__)
  static constexpr int kBcp = -9;
  static constexpr int kCallWrapper = -8;  // of the call stub's frame
#else
  static constexpr int kBcp = -8;
  static constexpr int kCallWrapper = -6;
#endif
};

// Whether a call leaves its return address on the stack.
#if defined(__aarch64__)
inline constexpr bool kCallPushes = false;
#else
inline constexpr bool kCallPushes = true;
#endif

// The contents of the interpreter's registers at the point of interruption. 0: unknown.
struct InterpreterRegisters {
  uint64_t bcp = 0;  // in a bytecode
  // Before the frame is complete: the caller's sp, ...
  uint64_t entry_sp = 0, entry_return = 0, entry_method = 0;
  // After the frame was removed.
  uint64_t leave_sp = 0, leave_return = 0;
};
// `ucontext`: third argument of the signal handler.
InterpreterRegisters InterpreterRegistersOf(const void* ucontext);

// The location of a frame's caller, in words from sp.
struct CallerPlace {
  int32_t return_address;  // -1: in the link register
  int32_t fp;              // -1: still in its register
  int32_t sp;
  bool operator==(const CallerPlace&) const = default;
};
constexpr CallerPlace CallerOfCompleteFrame(int32_t frame_words) {
  return {frame_words - 1, frame_words - 2, frame_words};
}

// The caller of a compiled method with code [code, code + size), interrupted at offset `pc`. Its
// frame is complete from `complete` on.
CallerPlace CallerInCompiled(const uint8_t* code, uint32_t size, uint32_t pc, int64_t complete,
                             int32_t frame_words);

// Whether the instruction that ends at `at`, whose run-time address is `address`, is a call.
// `target`: its destination, 0 if the instruction does not contain it. Reads at most kLongestCall
// bytes before `at`, none before `begin`.
inline constexpr int kLongestCall = 13;
bool AfterCall(const uint8_t* begin, const uint8_t* at, uint64_t address, uint64_t* target);

// How many bytes of code before and after an instruction the functions below read.
inline constexpr int kFrameCodeBefore = 64, kFrameCodeAfter = 32;

// The number of words that the instructions after a call pop first: what was pushed for the call.
// Reads kFrameCodeAfter bytes.
int WordsPopped(const uint8_t* at, const uint8_t* end);

// The offset in a method entry of the interpreter from which on fp is the new frame's; -1: it makes
// no frame.
int32_t FramePointerSet(const uint8_t* code, uint32_t size);

// How far the interpreter has removed its frame at `at`: 0 not at all, 1 its return address is at
// sp, 2 it is in leave_return. Reads kFrameCodeBefore bytes before `at` and kFrameCodeAfter from
// `at` on.
int FrameRemoved(const uint8_t* begin, const uint8_t* at, const uint8_t* end);

// Whether `at` is in the part of an adapter that calls the VM. An adapter into the interpreter
// whose method has been compiled lets the VM patch the caller, and saves all registers around that
// call. The state at the adapter's entry is then available by a register: x86's r13 (sp), AArch64's
// x29 (its frame). Reads kAdapterCodeBefore bytes before `at`.
inline constexpr int kAdapterCodeBefore = 1024 + 8;
bool AdapterCallsVm(const uint8_t* begin, const uint8_t* at);

// At the return address of that call: the word from sp that holds that register. -1: it is x29,
// which calls preserve in frames, or this is not that call. Reads kFrameCodeAfter bytes.
int32_t AdapterSaved(const uint8_t* at, const uint8_t* end);

}  // namespace jprof::hotspot
