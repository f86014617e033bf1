// What the machine code around an instruction says about the frame it runs on. Everything that
// depends on the processor stands in frame_code.cc; all functions are pure, over bytes that the
// caller knows to be readable.
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

// What HotSpot's interpreter keeps in registers, where a signal interrupted it. 0: not known.
struct InterpreterRegisters {
  uint64_t bcp = 0;  // in a bytecode
  uint64_t entry_sp = 0, entry_return = 0,
           entry_method = 0;                // before a frame stands: the caller's sp, ...
  uint64_t leave_sp = 0, leave_return = 0;  // after it went
};
// `ucontext`: third argument of the signal handler.
InterpreterRegisters InterpreterRegistersOf(const void* ucontext);

// Where a frame's caller is, in words from sp.
struct CallerPlace {
  int32_t return_address;  // -1: in the link register
  int32_t fp;              // -1: still in its register
  int32_t sp;
  bool operator==(const CallerPlace&) const = default;
};
constexpr CallerPlace Standing(int32_t frame_words) {
  return {frame_words - 1, frame_words - 2, frame_words};
}

// Of a compiled method's code, [code, code + size), interrupted at offset `pc`; its frame stands
// from `complete` on.
CallerPlace CallerInCompiled(const uint8_t* code, uint32_t size, uint32_t pc, int64_t complete,
                             int32_t frame_words);

// Whether the instruction that ends at `at`, whose run-time address is `address`, is a call.
// `target`: where to, 0 if it does not say. Reads kLongestCall bytes back at most, none before
// `begin`.
inline constexpr int kLongestCall = 13;
bool AfterCall(const uint8_t* begin, const uint8_t* at, uint64_t address, uint64_t* target);

// How much code around an instruction the functions below look at, in bytes.
inline constexpr int kFrameCodeBefore = 64, kFrameCodeAfter = 32;

// Words that the instructions after a call take off the stack first: what was pushed for it. Looks
// at kFrameCodeAfter bytes.
int WordsPopped(const uint8_t* at, const uint8_t* end);

// Offset in a method entry of the interpreter at which fp has become the new frame's; -1: it makes
// no frame.
int32_t FramePointerSet(const uint8_t* code, uint32_t size);

// How far the interpreter has removed its frame at `at`: 0 not at all, 1 its return address is at
// sp, 2 in leave_return. Looks at kFrameCodeBefore bytes before `at` and kFrameCodeAfter from it
// on.
int FrameRemoved(const uint8_t* begin, const uint8_t* at, const uint8_t* end);

// An adapter into the interpreter that finds its method compiled has the VM patch its caller, with
// every register saved around that call. Whether `at` lies where they are saved, and what the
// adapter was entered with is behind a register: x86's r13 (sp), AArch64's x29 (its frame). Looks
// at kAdapterCodeBefore bytes before `at`.
inline constexpr int kAdapterCodeBefore = 1024 + 8;
bool AdapterCallsVm(const uint8_t* begin, const uint8_t* at);

// At the return address of that call: in which word from sp that register was saved; -1: it is
// x29, which calls preserve in frames, or this is not that call. Looks at kFrameCodeAfter bytes.
int32_t AdapterSaved(const uint8_t* at, const uint8_t* end);

}  // namespace jprof::hotspot
