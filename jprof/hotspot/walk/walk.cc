#include "jprof/hotspot/walk/walk.h"

#include "jprof/hotspot/walk/walk_compiled.h"
#include "jprof/hotspot/walk/walk_interpreted.h"
#include "jprof/hotspot/walk/walk_stubs.h"

namespace jprof::hotspot {
namespace {

using unwind::Unwinder;

// Continues at the anchor if the thread has recorded the place at which native code was called.
// This is more reliable than the result of unwinding, by which generated code was reached from
// native code.
void PreferAnchor(WalkState& walk) {
  const unwind::Registers unwound = walk.at;
  const uint64_t anchor = walk.anchor;
  walk.at.sp -= 16;  // the call to native code may have been in a small stub
  if (!walk.ToAnchor()) {
    walk.at = unwound;
    walk.anchor = anchor;
  }
}

WalkStep StepNative(WalkState& walk) {
  uint64_t function = 0;
  const uint64_t pc = walk.at.pc;
  const auto step =
      walk.memory.NextNative(walk.unwinder, walk.at, walk.stack, walk.is_top, &function,
                             walk.last != nullptr ? &walk.last->log() : nullptr);
  walk.EmitAt(pc, FrameKind::kFunction, function != 0 ? function : pc, -1);
  switch (step) {
    case Unwinder::Step::kStepped:
      if (walk.IsCode(walk.at.pc) && !walk.at.interrupted) PreferAnchor(walk);
      return WalkStep::kCaller;
    case Unwinder::Step::kOutermost:
      return WalkStep::kDone;
    default:
      return WalkStep::kLost;
  }
}

WalkStep StepGenerated(WalkState& walk) {
  if (walk.sites != nullptr && !walk.is_top && StepBySite(walk)) return WalkStep::kCaller;
  const CodeBlob blob = walk.BlobAt(walk.at.pc);  // a copy: the steps look up other blobs
  if (walk.IsCallStub(walk.at.pc)) return StepCallStub(walk);
  switch (blob.kind) {
    case BlobKind::kNone:
      return WalkStep::kLost;
    case BlobKind::kInterpreter:
      return StepInterpreted(walk, blob);
    case BlobKind::kMethod:
    case BlobKind::kNativeMethod:
      return StepCompiled(walk, blob);
    case BlobKind::kUpcall:
      return StepUpcall(walk, blob);
    case BlobKind::kAdapter:
      return StepAdapter(walk, blob);
    default:
      return StepStub(walk, blob);
  }
}

// Returns whether the remaining stack equals that of the last walk. The caller of a frame depends
// only on pc, sp, fp and the words that are read, unless the frame is interrupted or native
// (anchors).
bool JoinsLast(WalkState& walk) {
  LastStack& last = *walk.last;
  const bool may_join = !walk.is_top && walk.IsCode(walk.at.pc);
  if (may_join && last.Joins(walk.at)) return true;
  last.Step(walk.at, walk.result.depth);
  if (!may_join) last.MayNotJoin();
  return false;
}

// Walks the remaining stack. Terminates, because every step goes up the stack or uses an anchor, of
// which there is one for each entry into Java further up.
void StepToTheEnd(WalkState& walk) {
  while (!walk.result.truncated) {
    if (walk.last != nullptr && JoinsLast(walk)) return;
    const uint64_t sp = walk.at.sp;
    const WalkStep step = walk.IsCode(walk.at.pc) ? StepGenerated(walk) : StepNative(walk);
    if (step == WalkStep::kDone) return;
    const bool upwards =
        (walk.at.sp > sp || (walk.is_top && walk.at.sp == sp)) && walk.at.sp <= walk.stack.high;
    if (!upwards) walk.at.sp = sp;
    const bool lost = step == WalkStep::kLost || !upwards;
    if (lost && walk.last != nullptr) walk.last->Spoil();
    if (lost && !walk.ToAnchor()) {
      walk.result.unknown = true;
      return;
    }
    walk.is_top = walk.at.interrupted;  // a signal frame's caller may be at any instruction
    walk.interpreter = {};
  }
}

uint64_t AnchorOf(const WalkTask& task) {
  return task.vm_thread + static_cast<uint64_t>(task.layout.thread_anchor);
}

}  // namespace

StackWalk WalkFrom(const WalkTask& task, const unwind::Registers& registers,
                   const InterpreterRegisters& interpreter) {
  WalkState walk(task);
  walk.at = registers;
  walk.interpreter = interpreter;
  if (walk.thread != 0) walk.anchor = AnchorOf(task);
  const uint64_t continuation = walk.NoteContinuation();
  if (walk.last == nullptr) {
    StepToTheEnd(walk);
    return walk.result;
  }
  LastStack& last = *walk.last;
  last.Begin(
      {walk.thread, continuation, walk.unwinder.Generation()}, walk.at.sp,
      [&](const LastStack::Code& code) {
        return code.header == 0 ||
               walk.layout.nmethod.CompileId(walk.memory, code.header) == code.compile_id;
      },
      [&](uint64_t address) { return walk.memory.At<uint64_t>(address); });
  walk.UseBufferOf(last);
  StepToTheEnd(walk);
  last.End(&walk.result, !walk.result.unknown && !walk.result.truncated);
  return walk.result;
}

uint32_t WalkTwoFrames(const WalkTask& task, const unwind::Registers& registers) {
  WalkState walk(task);
  walk.at = registers;
  walk.is_top = false;
  while (walk.result.depth < 2 && walk.IsCode(walk.at.pc)) {
    const uint64_t sp = walk.at.sp, fp = walk.at.fp;
    const CodeBlob& blob = walk.BlobAt(walk.at.pc);
    // The wrapper of a native method has pushed the arguments, and has set fp.
    if (walk.result.depth == 0 && blob.kind == BlobKind::kNativeMethod && walk.OnStack(fp, 16)) {
      walk.Emit(FrameKind::kNative, walk.layout.nmethod.MethodOf(walk.memory, blob), -1);
      walk.To({walk.Word(fp + 8), fp + 16, walk.Word(fp)});
      continue;
    }
    if (StepGenerated(walk) != WalkStep::kCaller || walk.at.sp <= sp) break;
  }
  return walk.result.depth;
}

StackWalk WalkJavaFrames(const WalkTask& task) {
  WalkState walk(task);
  walk.java_only = true;
  walk.is_top = false;
  walk.at.sp = walk.stack.low;
  walk.anchor = AnchorOf(task);
  if (!walk.ToAnchor()) return walk.result;
  walk.NoteContinuation();
  StepToTheEnd(walk);
  return walk.result;
}

}  // namespace jprof::hotspot
