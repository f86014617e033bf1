#include "jprof/hotspot/walk/walk_stubs.h"

#include <cstring>

namespace jprof::hotspot {
namespace {

constexpr char kCallStub[] = "call_stub";
constexpr uint64_t kMostPrologue = 16;  // bytes

// Steps to native code or, if only Java frames are walked, to the Java code that called it.
WalkStep ToNativeCaller(WalkState& walk, uint64_t anchor) {
  const unwind::Registers& at = walk.at;
  if (!walk.OnStack(at.fp, 16) || !walk.OnStack(anchor, 24)) return WalkStep::kLost;
  walk.anchor = anchor;
  const Caller caller = {walk.Word(at.fp + 8), at.fp + 16, walk.Word(at.fp)};
  if (!walk.java_only) return walk.To(caller);
  const uint64_t sp = walk.Word(anchor + static_cast<uint64_t>(walk.layout.anchor_sp));
  if (sp == 0) return WalkStep::kDone;
  return walk.ToAnchor() ? WalkStep::kCaller : WalkStep::kLost;
}

// Is like MayReturnTo, but also accepts native code, which calls some stubs like the call stub.
bool StubMayReturnTo(WalkState& walk, uint64_t pc, uint64_t* target) {
  constexpr uint64_t kBefore = 16;
  if (walk.IsCode(pc)) return walk.MayReturnTo(pc, target);
  if (pc < 4096 || !walk.memory.IsNativeCode(walk.unwinder, pc - 1)) return false;
  return walk.memory.Reaches(pc - kBefore, kBefore) && walk.FollowsCall(pc - kBefore, pc, target);
}

bool IsJavaCode(WalkState& walk, uint64_t pc) {
  if (!walk.IsCode(pc)) return false;
  const BlobKind kind = walk.BlobAt(pc).kind;
  return kind == BlobKind::kMethod || kind == BlobKind::kNativeMethod ||
         kind == BlobKind::kInterpreter || walk.IsCallStub(pc);
}

// Returns how many bytes of arguments were pushed: C1 pushes those of some of its stubs, and pops
// them after the call.
uint64_t PushedFor(WalkState& walk, uint64_t return_address) {
  const CodeBlob& blob = walk.BlobAt(return_address);
  if (blob.kind != BlobKind::kMethod) return 0;
  const auto code = walk.CodeAt(blob, return_address, 0, kFrameCodeAfter);
  return static_cast<uint64_t>(WordsPopped(code.at, code.end)) * 8;
}

// Finds the first return address on the stack that follows a call of this very blob. If the stub
// has a frame by fp, the saved fp is just below it.
bool FindCall(WalkState& walk, const CodeBlob& blob, Caller* caller) {
  constexpr int kMostWords = 64;
  const unwind::Registers& at = walk.at;
  if (!kCallPushes && walk.MayReturnTo(at.link)) {
    *caller = {at.link, at.sp, at.fp};
    return true;
  }
  // Such a stub is entered by exceptions and deoptimisation.
  const bool is_jumped_to = blob.complete < 0 && blob.frame_words > 0;
  for (uint64_t slot = at.sp; slot < at.sp + kMostWords * 8 && walk.OnStack(slot); slot += 8) {
    uint64_t target = 0;
    const uint64_t pc = walk.Word(slot);
    if (!StubMayReturnTo(walk, pc, &target)) continue;
    const bool ours = target >= blob.header && target < blob.header + blob.size;
    const bool by_fp = at.fp + 8 == slot && walk.OnStack(at.fp);
    // Further up, stale return addresses are common: only a call of this blob is accepted, unless
    // the call does not contain its target.
    const bool near = slot == at.sp || by_fp;
    const bool is_compiled = walk.IsCode(pc) && walk.BlobAt(pc).kind == BlobKind::kMethod;
    if (!near && (!is_compiled || (!ours && target != 0 && !is_jumped_to))) continue;
    *caller = {pc, slot + 8 + PushedFor(walk, pc), by_fp ? walk.Word(at.fp) : at.fp};
    return true;
  }
  return false;
}

WalkStep ByFramePointer(WalkState& walk) {
  constexpr uint64_t kCookie = ~uint64_t{0};  // what a method's entry barrier pushes first
  const uint64_t fp = walk.at.fp;
  if (!walk.OnStack(fp, 24)) return WalkStep::kLost;
  const uint64_t slot = walk.Word(fp + 8) == kCookie ? fp + 16 : fp + 8;
  const uint64_t pc = walk.Word(slot);
  uint64_t target;
  if (!StubMayReturnTo(walk, pc, &target)) return WalkStep::kLost;
  return walk.To({pc, slot + 8, walk.Word(fp)});
}

WalkStep ToCaller(WalkState& walk, const CodeBlob& blob) {
  Caller caller;
  const auto words = static_cast<int32_t>(blob.frame_words);
  if (words > 0 && !walk.is_top) {
    // A stub may have been entered other than by a call: by a poll or an exception.
    if (walk.At(CallerOfCompleteFrame(words), &caller) && IsJavaCode(walk, caller.pc))
      return walk.To(caller);
  } else if (words > 0) {
    CallerPlace place = walk.PlaceIn(blob);
    // No instruction that makes the frame was found, but pc is not at the beginning either.
    if (place == CallerPlace{0, -1, 1} && walk.at.pc > blob.begin + kMostPrologue) {
      place = CallerOfCompleteFrame(words);
    }
    if (walk.At(place, &caller) && walk.MayReturnTo(caller.pc)) return walk.To(caller);
  }
  if (walk.is_top && FindCall(walk, blob, &caller)) return walk.To(caller);
  return ByFramePointer(walk);
}

bool IsContinuationStub(const CodeBlob& blob) {
  return std::strstr(blob.name, "ontinuation") != nullptr;  // "StubRoutines (continuation stubs)"
}

}  // namespace

WalkStep StepStub(WalkState& walk, const CodeBlob& blob) {
  if (walk.result.is_virtual && blob.frame_words <= 0 &&
      (!walk.is_top || IsContinuationStub(blob))) {
    walk.result.in_heap = true;  // the return barrier or its stub
    return WalkStep::kDone;
  }
  walk.EmitStub(blob.name);
  return ToCaller(walk, blob);
}

WalkStep StepCallStub(WalkState& walk) {
  walk.EmitStub(kCallStub);
  const uint64_t slot =
      walk.at.fp + static_cast<uint64_t>(int64_t{InterpreterFrame::kCallWrapper} * 8);
  if (!walk.OnStack(slot)) return WalkStep::kLost;
  return ToNativeCaller(walk, walk.Word(slot) + static_cast<uint64_t>(walk.layout.wrapper_anchor));
}

WalkStep StepUpcall(WalkState& walk, const CodeBlob& blob) {
  walk.EmitStub(blob.name);
  const int64_t field = walk.layout.upcall_frame_data;
  if (walk.is_top || field < 0) return ToCaller(walk, blob);
  const auto offset = walk.memory.At<int32_t>(blob.header + static_cast<uint64_t>(field));
  return ToNativeCaller(walk, walk.at.sp + static_cast<uint64_t>(int64_t{offset}));
}

}  // namespace jprof::hotspot
