#include "jprof/hotspot/vm/frame_code.h"

#include <ucontext.h>

#include <algorithm>
#include <cstring>
#include <initializer_list>

#include "jprof/hotspot/vm/load.h"

namespace jprof::hotspot {

#if defined(__x86_64__)
namespace {

// Instructions that HotSpot emits around frames, as bytes.
constexpr uint8_t kPushRbp = 0x55, kPopRbp = 0x5d, kRet = 0xc3, kLeave = 0xc9, kJmp32 = 0xe9;

bool Bytes(const uint8_t* at, const uint8_t* end, std::initializer_list<uint8_t> bytes) {
  return end - at >= static_cast<int64_t>(bytes.size()) &&
         std::memcmp(at, bytes.begin(), bytes.size()) == 0;
}

uint32_t Word32(const uint8_t* at) { return LoadAt<uint32_t>(reinterpret_cast<uint64_t>(at)); }

// Returns whether the instruction is `sub rsp, bytes`.
bool SubtractsRsp(const uint8_t* at, const uint8_t* end, uint32_t bytes) {
  if (Bytes(at, end, {0x48, 0x83, 0xec}) && end - at >= 4) return at[3] == bytes && bytes < 0x80;
  return Bytes(at, end, {0x48, 0x81, 0xec}) && end - at >= 7 && Word32(at + 3) == bytes;
}

// Returns the place of the caller while the prologue runs. It pushes rbp and allocates the rest of
// the frame, or allocates all of it and then stores rbp.
CallerPlace InPrologue(const uint8_t* code, const uint8_t* pc, const uint8_t* end, int32_t words) {
  const auto bytes = static_cast<uint32_t>(words) * 8;
  for (const uint8_t* at = code; at < end; ++at) {
    if (SubtractsRsp(at, end, bytes - 8)) {
      if (pc <= at) return {0, -1, 1};
      const bool stored =
          !Bytes(pc, end, {0x48, 0x89, 0x6c, 0x24}) && !Bytes(pc, end, {0x48, 0x89, 0xac, 0x24});
      return {words - 1, stored ? words - 2 : -1, words};
    }
    if (!SubtractsRsp(at, end, bytes - 16)) continue;
    const uint8_t* push = at - 1;  // or before a `mov rbp, rsp`
    if (at - code >= 4 && at[-4] == kPushRbp && at[-1] != kPushRbp) push = at - 4;
    if (push < code || *push != kPushRbp) continue;
    if (pc <= push) return {0, -1, 1};
    return pc <= at ? CallerPlace{1, 0, 2} : CallerOfCompleteFrame(words);
  }
  return {0, -1, 1};  // has no frame: a method handle intrinsic
}

// Skips the instructions that may occur between the end of a frame and the `ret`: the poll of a
// safepoint, a check of the exception.
const uint8_t* SkipPoll(const uint8_t* at, const uint8_t* end) {
  if (Bytes(at, end, {0xc5, 0xf8, 0x77})) at += 3;  // vzeroupper
  if (Bytes(at, end, {0x49, 0x3b, 0x67})) at += 4;  // cmp rsp, [r15 + poll]
  if (Bytes(at, end, {0x49, 0x3b, 0xa7})) at += 7;
  if (Bytes(at, end, {0x49, 0x83, 0x7f})) at += 5;  // cmp [r15 + pending exception], 0
  if (Bytes(at, end, {0x49, 0x83, 0xbf})) at += 8;
  if (Bytes(at, end, {0x49, 0x81, 0x7f})) at += 8;
  if (Bytes(at, end, {0x49, 0x81, 0xbf})) at += 11;
  if (Bytes(at, end, {0x0f, 0x87}) || Bytes(at, end, {0x0f, 0x85})) at += 6;  // ja, jne
  return at;
}

bool Returns(const uint8_t* at, const uint8_t* end) {
  at = SkipPoll(at, end);
  return at < end && *at == kRet;
}

// Recognises the slow path of the poll before a `ret`: lea r10, [pc of the poll]; mov [r15 + ...],
// r10; jmp handler.
bool PollsAtReturn(const uint8_t* begin, const uint8_t* at, const uint8_t* end) {
  if (Bytes(at, end, {0x4c, 0x8d, 0x15})) at += 7;
  if (at < end && *at == kJmp32 && at - begin >= 7) at -= 7;
  return Bytes(at, end, {0x4d, 0x89, 0x97}) && end - at > 7 && at[7] == kJmp32;
}

// Recognises a jump to the exception handler: jmp stub; or pop rdx (the return address); jmp rax or
// r10.
bool JumpsToHandler(const uint8_t* at, const uint8_t* end) {
  return Bytes(at, end, {kJmp32}) || Bytes(at, end, {0x5a, 0xff, 0xe0}) ||
         Bytes(at, end, {0x5a, 0x41, 0xff, 0xe2});
}

}  // namespace

InterpreterRegisters InterpreterRegistersOf(const void* ucontext) {
  const auto& r = static_cast<const ucontext_t*>(ucontext)->uc_mcontext.gregs;
  const auto at = [&](int index) { return static_cast<uint64_t>(r[index]); };
  InterpreterRegisters found;
  found.bcp = found.entry_sp = found.leave_return = at(REG_R13);
  found.entry_method = found.leave_sp = at(REG_RBX);
  found.entry_return = at(REG_RAX);
  return found;
}

CallerPlace CallerInCompiled(const uint8_t* code, uint32_t size, uint32_t offset, int64_t complete,
                             int32_t words) {
  const uint8_t *pc = code + offset, *end = code + size;
  if (offset < complete) return InPrologue(code, pc, std::min(end, code + complete), words);
  if (Returns(pc, end) || PollsAtReturn(code, pc, end)) return {0, -1, 1};
  if (*pc == kPopRbp && (Returns(pc + 1, end) || JumpsToHandler(pc + 1, end))) return {1, 0, 2};
  if (offset > 0 && pc[-1] == kPopRbp && JumpsToHandler(pc, end)) return {0, -1, 1};
  if (complete < 0) return InPrologue(code, pc, end, words);
  return CallerOfCompleteFrame(words);
}

bool AfterCall(const uint8_t* begin, const uint8_t* at, uint64_t address, uint64_t* target) {
  *target = 0;
  const int64_t room = at - begin;
  if (room >= 5 && at[-5] == 0xe8) {
    *target = address + static_cast<uint64_t>(int64_t{static_cast<int32_t>(Word32(at - 4))});
    return true;
  }
  // call [register], with the address loaded just before
  if (room >= kLongestCall && at[-13] == 0x49 && at[-12] == 0xba &&
      Bytes(at - 3, at, {0x41, 0xff, 0xd2})) {
    *target = LoadAt<uint64_t>(reinterpret_cast<uint64_t>(at) - 11);
    return true;
  }
  const auto indirect = [&](int length, uint8_t mask, uint8_t form) {
    return room >= length && at[-length] == 0xff && (at[1 - length] & mask) == form;
  };
  return indirect(2, 0xf8, 0xd0) || indirect(2, 0xf8, 0x10) || indirect(3, 0xf8, 0x50) ||
         indirect(6, 0xf8, 0x90) || indirect(6, 0xff, 0x15) || indirect(3, 0xff, 0x14) ||
         indirect(4, 0xff, 0x54) || indirect(7, 0xff, 0x94);
}

int WordsPopped(const uint8_t* at, const uint8_t* end) {
  int words = 0;
  for (; at + 1 < end; ++words) {
    if (*at == 0x41) ++at;  // r8 to r15
    if ((*at++ & 0xf8) != 0x58) return words;
  }
  return words;
}

// Finds the instructions push rbp; mov rbp, rsp; push r13 (the sender's sp).
int32_t FramePointerSet(const uint8_t* code, uint32_t size) {
  for (uint32_t at = 0; at + 6 <= size; ++at) {
    if (Bytes(code + at, code + size, {kPushRbp, 0x48, 0x8b, 0xec, 0x41, kPushRbp}))
      return static_cast<int32_t>(at + 4);
  }
  return -1;
}

// Recognises leave; (JDK 25: mov byte [r15 + ...], 0;) pop r13; mov rsp, rbx; jmp r13, with little
// in between.
int FrameRemoved(const uint8_t* begin, const uint8_t* at, const uint8_t* end) {
  constexpr int kFar = 48, kMove = 8;
  const auto pops = [&](const uint8_t* p) { return Bytes(p, end, {0x41, kPopRbp}); };
  const auto moves = [&](const uint8_t* p) { return Bytes(p, end, {0x41, 0xc6, 0x87}); };
  const auto left = [&](const uint8_t* p) {  // directly before the pop
    return (p - 1 >= begin && p[-1] == kLeave) ||
           (p - kMove - 1 >= begin && p[-kMove - 1] == kLeave && moves(p - kMove));
  };
  if (pops(at) && left(at)) return 1;
  if (at > begin && at[-1] == kLeave && moves(at) && pops(at + kMove)) return 1;
  for (const uint8_t* back = at; back - 3 >= begin && at - back < kFar; --back) {
    if (pops(back - 2) && left(back - 2)) return 2;
    if (Bytes(back - 3, end, {0x41, 0xff, 0xe5})) return 0;  // the end of a previous sequence
  }
  return 0;
}

// Recognises mov r13, rsp; ... and rsp, -16; pushf; all registers by mov; sub rsp, 2688; fxsave
// [rsp]; ... call; fxrstor [rsp]; ... mov rsp, r13.
bool AdapterCallsVm(const uint8_t* begin, const uint8_t* at) {
  constexpr int kFar = 256;
  for (const uint8_t* back = at; back - 3 >= begin && at - back < kFar; --back) {
    // After a pop rax, with the return address, r13 is the sp of the interpreter's caller.
    if (Bytes(back - 3, at, {0x4c, 0x8b, 0xec})) return back - 4 < begin || back[-4] != 0x58;
    if (Bytes(back - 3, at, {0x49, 0x8b, 0xe5})) return false;
  }
  return false;
}

int32_t AdapterSaved(const uint8_t* at, const uint8_t* end) {
  constexpr int32_t kSp = 2;                        // r15, r14, r13: the others above it
  if (Bytes(at, end, {0xc5, 0xf8, 0x77})) at += 3;  // vzeroupper
  if (!Bytes(at, end, {0x48, 0x0f, 0xae, 0x0c, 0x24})) return -1;  // fxrstor [rsp]
  at += 5;
  if (!Bytes(at, end, {0x48, 0x81, 0xc4}) || end - at < 7) return -1;  // add rsp, bytes
  return static_cast<int32_t>(Word32(at + 3) / 8) + kSp;
}

#elif defined(__aarch64__)
namespace {

uint32_t Instruction(const uint8_t* at) { return LoadAt<uint32_t>(reinterpret_cast<uint64_t>(at)); }

bool IsRet(uint32_t i) { return i == 0xd65f03c0; }
bool SavesFrame(uint32_t i) { return (i & 0xfe407fff) == 0xa8007bfd; }  // stp x29, x30, [sp, ...]
bool LoadsFrame(uint32_t i) { return (i & 0xfe407fff) == 0xa8407bfd; }  // ldp x29, x30, [sp, ...]
bool MovesSp(uint32_t i) { return (i & 0xbf0003ff) == 0x910003ff; }     // add or sub sp, sp, ...

}  // namespace

InterpreterRegisters InterpreterRegistersOf(const void* ucontext) {
  const auto& context = static_cast<const ucontext_t*>(ucontext)->uc_mcontext;
  InterpreterRegisters found;
  found.bcp = context.regs[22];
  found.entry_sp = context.regs[19];
  found.entry_return = found.leave_return = context.regs[30];
  found.entry_method = context.regs[12];
  found.leave_sp = context.regs[20];
  return found;
}

CallerPlace CallerInCompiled(const uint8_t* code, uint32_t size, uint32_t offset, int64_t complete,
                             int32_t words) {
  const bool prologue = offset < complete || complete < 0;
  const uint32_t end = prologue && complete >= 0 ? static_cast<uint32_t>(complete) : size;
  bool moves = false;
  for (uint32_t at = offset; at + 4 <= end && at < offset + 64; at += 4) {
    const uint32_t i = Instruction(code + at);
    if (prologue && SavesFrame(i)) return {-1, -1, moves ? 0 : words};
    if (!prologue && LoadsFrame(i)) break;
    if (!prologue && IsRet(i)) return {-1, -1, moves ? words : 0};
    moves = moves || MovesSp(i);
  }
  return complete < 0 ? CallerPlace{-1, -1, 0} : CallerOfCompleteFrame(words);
}

bool AfterCall(const uint8_t* begin, const uint8_t* at, uint64_t address, uint64_t* target) {
  *target = 0;
  if (at - begin < 4) return false;
  const uint32_t i = Instruction(at - 4);
  if (i >> 26 == 0x25) {  // bl
    *target = address - 4 +
              static_cast<uint64_t>(static_cast<int64_t>(static_cast<uint64_t>(i) << 38) >> 36);
    return true;
  }
  return (i & 0xfffffc1f) == 0xd63f0000;  // blr
}

int WordsPopped(const uint8_t* at, const uint8_t* end) {
  return end - at >= 4 && (Instruction(at) & 0xffdf83e0) == 0xa8c103e0 ? 2
                                                                       : 0;  // ldp x, y, [sp], 16
}

// Finds the instruction add x29, sp, ...
int32_t FramePointerSet(const uint8_t* code, uint32_t size) {
  for (uint32_t at = 0; at + 4 <= size; at += 4) {
    if ((Instruction(code + at) & 0xffc003ff) == 0x910003fd) return static_cast<int32_t>(at + 4);
  }
  return -1;
}

// Recognises ldp x29, x30, [sp], ...; ret, with little in between.
int FrameRemoved(const uint8_t* begin, const uint8_t* at, const uint8_t*) {
  for (int back = 4; back <= 48 && at - back >= begin; back += 4) {
    if (IsRet(Instruction(at - back))) return 0;
    if (LoadsFrame(Instruction(at - back))) return 2;
  }
  return 0;
}

// Recognises stp x29, x30, [sp, -16]!; mov x29, sp; ... ldp x29, x30, [sp], 16.
bool AdapterCallsVm(const uint8_t* begin, const uint8_t* at) {
  constexpr int kFar = 1024;
  for (int back = 4; back <= kFar && at - back >= begin; back += 4) {
    if (Instruction(at - back) == 0x910003fd) return true;
    if (LoadsFrame(Instruction(at - back))) return false;
  }
  return false;
}

int32_t AdapterSaved(const uint8_t*, const uint8_t*) { return -1; }
#endif

}  // namespace jprof::hotspot
