#include "jprof/hotspot/walk/walk_interpreted.h"

#include <algorithm>

namespace jprof::hotspot {
namespace {

void EmitInterpreted(WalkState& walk, uint64_t method, uint64_t bcp) {
  const MethodShape shape = walk.layout.ShapeOf(method, walk.memory);
  if (shape.is_native) return walk.Emit(FrameKind::kNative, method, -1);
  const auto in_code = [&](uint64_t at) {
    return at >= shape.code && at < shape.code + shape.code_size;
  };
  if (walk.is_top && in_code(walk.interpreter.bcp)) bcp = walk.interpreter.bcp;
  walk.Emit(FrameKind::kInterpreted, method,
            in_code(bcp) ? static_cast<int32_t>(bcp - shape.code) : -1);
}

// Returns whether the compiled method that contains `pc` may have its frame at sp, because it
// returns to generated code.
bool IsFrameOf(WalkState& walk, uint64_t pc, uint64_t sp) {
  const CodeBlob& blob = walk.BlobAt(pc);
  if (blob.kind != BlobKind::kMethod && blob.kind != BlobKind::kNativeMethod) return false;
  const uint64_t slot = sp + static_cast<uint64_t>(blob.frame_words - 1) * 8;
  return blob.frame_words > 0 && walk.OnStack(slot) && walk.MayReturnTo(walk.Word(slot));
}

// Steps to a caller whose sp is the given one, or the one in the interpreter's register (which is
// not always set yet) if only there a compiled caller's frame is found.
WalkStep ToCaller(WalkState& walk, uint64_t pc, uint64_t sp) {
  const uint64_t entry_sp = walk.interpreter.entry_sp;
  const bool by_register = walk.OnStack(entry_sp) && entry_sp > sp && !IsFrameOf(walk, pc, sp) &&
                           IsFrameOf(walk, pc, entry_sp);
  return walk.To({pc, by_register ? entry_sp : sp, walk.at.fp});
}

// Steps from a place between a call and the frame of the callee (adapters, method entries). The
// return address is on top of the stack, or below the caller's sp, or in a register.
WalkStep BeforeFrame(WalkState& walk) {
  const uint64_t sp = walk.at.sp;
  const uint64_t top = kCallPushes && walk.OnStack(sp) ? walk.Word(sp) : walk.at.link;
  if (walk.MayReturnTo(top)) return ToCaller(walk, top, sp + (kCallPushes ? 8 : 0));
  const uint64_t under = walk.interpreter.entry_sp - 8;
  if (kCallPushes && walk.OnStack(under) && walk.MayReturnTo(walk.Word(under))) {
    return ToCaller(walk, walk.Word(under), walk.interpreter.entry_sp);
  }
  const uint64_t popped = walk.interpreter.entry_return;
  return walk.MayReturnTo(popped) ? ToCaller(walk, popped, sp) : WalkStep::kLost;
}

// Steps from a method entry, before fp is set for the frame.
WalkStep Entering(WalkState& walk, const CodeBlob& blob, uint64_t frame_from) {
  if (walk.layout.IsMethod(walk.interpreter.entry_method, walk.memory)) {
    EmitInterpreted(walk, walk.interpreter.entry_method, 0);
  } else {
    walk.EmitStub(blob.name);
  }
  const unwind::Registers& at = walk.at;
  if (kCallPushes && frame_from != 0 && at.pc == frame_from - 3 &&
      walk.OnStack(at.sp, 16)) {  // fp has been pushed
    const uint64_t sp = walk.interpreter.entry_sp;
    return walk.To({walk.Word(at.sp + 8), walk.OnStack(sp) ? sp : at.sp + 16, walk.Word(at.sp)});
  }
  return BeforeFrame(walk);
}

// Steps from a method that has returned: its frame was removed, but the jump to the caller is still
// to come.
WalkStep Leaving(WalkState& walk, int removed) {
  const unwind::Registers& at = walk.at;
  const uint64_t pc = removed == 1 ? walk.Word(at.sp) : walk.interpreter.leave_return;
  if (!walk.MayReturnTo(pc)) return WalkStep::kLost;
  const uint64_t least = at.sp + (removed == 1 ? 8 : 0), sp = walk.interpreter.leave_sp;
  return walk.To({pc, walk.OnStack(sp) && sp > least ? sp : least, at.fp});
}

WalkStep StepFrame(WalkState& walk, const CodeBlob& blob, bool in_entry) {
  const uint64_t fp = walk.at.fp, sp = walk.at.sp;
  if (!walk.OnStack(fp, 16)) return WalkStep::kLost;
  // Returns 0 if the word is not pushed yet.
  const auto pushed = [&](int word) {
    const uint64_t slot = fp + static_cast<uint64_t>(int64_t{word} * 8);
    return sp <= slot ? walk.Word(slot) : 0;
  };
  uint64_t method = pushed(InterpreterFrame::kMethod);
  if (method == 0 && in_entry) method = walk.interpreter.entry_method;
  if (!walk.layout.IsMethod(method, walk.memory)) {
    if (!in_entry) return WalkStep::kLost;
    walk.EmitStub(blob.name);
  } else {
    EmitInterpreted(walk, method, pushed(InterpreterFrame::kBcp));
  }
  // The sender's sp is the first word that is pushed below fp.
  const bool has_sender_sp = sp <= fp + static_cast<uint64_t>(InterpreterFrame::kSenderSp * 8L);
  const uint64_t sender_sp =
      has_sender_sp ? pushed(InterpreterFrame::kSenderSp) : walk.interpreter.entry_sp;
  const uint64_t caller_sp = walk.OnStack(sender_sp) ? std::max(sender_sp, fp + 16) : fp + 16;
  const uint64_t pc = walk.Word(fp + 8);
  return walk.MayReturnTo(pc) ? walk.To({pc, caller_sp, walk.Word(fp)}) : WalkStep::kLost;
}

}  // namespace

WalkStep StepInterpreted(WalkState& walk, const CodeBlob& blob) {
  if (!walk.is_top) return StepFrame(walk, blob, false);
  const uint64_t pc = walk.at.pc;
  const uint64_t* frame_from = walk.layout.entries.FrameFrom(walk.memory, pc);
  if (frame_from != nullptr && (*frame_from == 0 || pc < *frame_from)) {
    return Entering(walk, blob, *frame_from);
  }
  const auto code = walk.CodeAt(blob, pc, kFrameCodeBefore, kFrameCodeAfter);
  const int removed = FrameRemoved(code.begin, code.at, code.end);
  if (removed != 0) return Leaving(walk, removed);
  return StepFrame(walk, blob, frame_from != nullptr);
}

WalkStep StepAdapter(WalkState& walk, const CodeBlob& blob) {
  walk.EmitStub(blob.name);
  const unwind::Registers& at = walk.at;
  const auto code = walk.CodeAt(blob, at.pc, kAdapterCodeBefore, kFrameCodeAfter);
  if (!AdapterCallsVm(code.begin, code.at)) {
    return walk.is_top ? BeforeFrame(walk) : WalkStep::kLost;
  }
  uint64_t entry = kCallPushes ? walk.interpreter.entry_sp : at.fp + 8;  // of the return address
  if (kCallPushes && !walk.is_top) {
    const int32_t word = AdapterSaved(code.at, code.end);
    const uint64_t slot = at.sp + static_cast<uint64_t>(int64_t{word} * 8);
    entry = word >= 0 && walk.OnStack(slot) ? walk.Word(slot) : 0;
  }
  if (!walk.OnStack(entry) || !walk.MayReturnTo(walk.Word(entry))) return WalkStep::kLost;
  return walk.To({walk.Word(entry), entry + 8, kCallPushes ? at.fp : walk.Word(at.fp)});
}

}  // namespace jprof::hotspot
