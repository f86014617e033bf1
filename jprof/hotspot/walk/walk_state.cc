#include "jprof/hotspot/walk/walk_state.h"

#include <algorithm>
#include <utility>

namespace jprof::hotspot {

uint64_t WalkState::NoteContinuation() {
  if (thread == 0 || layout.continuation_entry < 0) return 0;
  const auto entry = memory.At<uint64_t>(thread + static_cast<uint64_t>(layout.continuation_entry));
  result.is_virtual = entry != 0 && at.sp < entry && stack.Holds(entry, 8);
  return result.is_virtual ? entry : 0;
}

void WalkState::EmitAt(uint64_t pc, FrameKind type, uint64_t method, int32_t bci) {
  if (result.depth == room_ && !MakeRoom()) {
    result.truncated = true;
    return;
  }
  StackFrame& frame = out_[result.depth++] = {type, bci, method, pc};
  if (names != nullptr) frame.ref = names->RefOf(frame);
}

bool WalkState::MakeRoom() {
  if (last == nullptr) return false;
  last->DiscardKept();
  UseBufferOf(*last);
  return result.depth < room_;
}

bool WalkState::ToAnchor() {
  if (anchor == 0) return false;
  const uint64_t from = std::exchange(anchor, 0);
  const auto field = [&](int64_t offset) { return Word(from + static_cast<uint64_t>(offset)); };
  const uint64_t sp = field(layout.anchor_sp);
  if (!OnStack(sp) || !stack.Holds(sp - 8, 8)) return false;
  const uint64_t pc = field(layout.anchor_pc);
  To({pc != 0 ? pc : Word(sp - 8), sp, field(layout.anchor_fp)});
  return IsCode(at.pc);
}

bool WalkState::At(const CallerPlace& place, Caller* caller) const {
  const auto slot = [&](int32_t word) { return at.sp + static_cast<uint64_t>(int64_t{word} * 8); };
  if (place.return_address >= 0 && !OnStack(slot(place.return_address))) return false;
  if (place.fp >= 0 && !OnStack(slot(place.fp))) return false;
  caller->pc = place.return_address < 0 ? at.link : Word(slot(place.return_address));
  caller->fp = place.fp < 0 ? at.fp : Word(slot(place.fp));
  caller->sp = slot(place.sp);
  return true;
}

bool WalkState::MayReturnTo(uint64_t pc, uint64_t* target) {
  uint64_t ignored;
  if (target == nullptr) target = &ignored;
  *target = 0;
  if (!IsCode(pc)) return false;
  if (IsCallStub(pc)) return true;
  const CodeBlob& blob = BlobAt(pc);
  switch (blob.kind) {
    case BlobKind::kNone:
    case BlobKind::kAdapter:
      return false;
    case BlobKind::kInterpreter:
      return true;
    case BlobKind::kMethod:
    case BlobKind::kNativeMethod:
      return FollowsCall(blob.begin, pc, target) || layout.nmethod.IsDeoptHandler(memory, blob, pc);
    default:
      return result.is_virtual || FollowsCall(blob.begin, pc, target);
  }
}

bool WalkState::FollowsCall(uint64_t begin, uint64_t pc, uint64_t* target) const {
  const uint64_t from = pc - std::min<uint64_t>(pc - begin, kLongestCall);
  const uint8_t* code = memory.Bytes(from, pc);
  return AfterCall(code, code + (pc - from), pc, target);
}

WalkState::CodeAround WalkState::CodeAt(const CodeBlob& blob, uint64_t pc, uint64_t before,
                                        uint64_t after) const {
  const uint64_t from = pc - std::min(pc - blob.begin, before);
  const uint64_t to = pc + std::min(blob.end - pc, after);
  const uint8_t* code = memory.Bytes(from, to);
  return {code, code + (pc - from), code + (to - from)};
}

CallerPlace WalkState::PlaceIn(const CodeBlob& blob) const {
  const auto size = static_cast<uint32_t>(blob.end - blob.begin);
  return CallerInCompiled(memory.Bytes(blob.begin, blob.end), size,
                          static_cast<uint32_t>(at.pc - blob.begin), blob.complete,
                          static_cast<int32_t>(blob.frame_words));
}

}  // namespace jprof::hotspot
