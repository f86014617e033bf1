#include "jprof/hotspot/walk/walk_compiled.h"

#include <algorithm>

namespace jprof::hotspot {
namespace {

constexpr int kMostPushed = 6;  // words

void NoteCode(WalkState& walk, uint64_t header, int32_t id) {
  if (walk.last != nullptr) walk.last->IsOf({header, id});
}

// Remembers the frames from `first` on for later walks.
void Remember(WalkState& walk, const CodeBlob& blob, uint32_t first) {
  const int32_t id = walk.layout.nmethod.CompileId(walk.memory, blob.header);
  NoteCode(walk, blob.header, id);
  const uint64_t pc = walk.at.pc;
  if (walk.sites == nullptr || walk.layout.nmethod.IsDeoptHandler(walk.memory, blob, pc) ||
      walk.IsContinuationEnd(blob)) {
    return;
  }
  walk.sites->Add(
      pc, {static_cast<uint32_t>(pc - blob.header), id, static_cast<uint32_t>(blob.frame_words)},
      {walk.FrameOf(first), walk.NextFrame()});
}

// Returns the scope at the frame's pc. A return address has its own entry. Any other instruction
// belongs to the next entry, as in the VM.
uint32_t ScopeAt(WalkState& walk, const CodeBlob& blob, const DebugInformation& debug) {
  const unwind::Registers& at = walk.at;
  const bool may_be =
      !walk.is_top && walk.OnStack(at.sp, static_cast<uint64_t>(blob.frame_words) * 8);
  const uint64_t original =
      may_be ? walk.layout.nmethod.DeoptimisedPc(walk.memory, blob, at.pc, at.sp) : 0;
  if (original != 0 && walk.last != nullptr) walk.last->Spoil();  // it is stored in the frame
  const auto offset = static_cast<int64_t>((original != 0 ? original : at.pc) - blob.begin);
  return FindScope(walk.memory, debug.pcs, debug.pc_count, offset + (walk.is_top ? 1 : 0));
}

// Calls visit(Scope, Method*) for the methods inlined into each other, innermost first, from the
// scope at `at` on, which is 0 if there is none. Returns whether the chain was read to its end.
bool VisitScopes(const StackLayout& layout, MemoryReader& memory, const DebugInformation& debug,
                 uint32_t at, auto visit) {
  Scope scope;
  while (at != 0 && ReadScope(memory, debug.scopes, debug.scopes_size, at, layout.coding, &scope)) {
    if (scope.method == 0 || scope.method > debug.metadata_count) return false;
    const auto method = memory.Get<uint64_t>(debug.metadata + (uint64_t{scope.method} - 1) * 8);
    if (!layout.IsMethod(method, memory)) return false;
    visit(scope, method);
    if (scope.sender == 0) return true;
    at = scope.sender;
  }
  return false;
}

// Emits the frames of a compiled method, inlined methods first.
void EmitScopes(WalkState& walk, const CodeBlob& blob, uint64_t method) {
  const StackLayout& layout = walk.layout;
  MemoryReader& memory = walk.memory;
  const FrameKind own =
      layout.nmethod.IsC2(memory, blob) ? FrameKind::kRejitted : FrameKind::kJitted;
  DebugInformation debug;
  const uint32_t at = layout.nmethod.DebugOf(memory, blob, &debug) ? ScopeAt(walk, blob, debug) : 0;
  const auto emit = [&](const Scope& scope, uint64_t scope_method) {
    walk.Emit(scope.sender == 0 ? own : FrameKind::kInlined, scope_method, std::max(scope.bci, 0));
  };
  if (!VisitScopes(layout, memory, debug, at, emit)) walk.Emit(own, method, -1);
}

// Returns the distance in words from sp to the initial sp of String.indexOf, which has pushed it,
// possibly above space for a short string, which may contain stale return addresses. Returns 0 if
// the last word that was pushed is something else.
int32_t PushedBeforeSavedSp(const WalkState& walk) {
  const uint64_t sp = walk.at.sp;
  const uint64_t words = walk.OnStack(sp) ? (walk.Word(sp) - sp) / 8 : 0;
  return words == 1 || words == 3 ? static_cast<int32_t>(words) : 0;
}

// Steps to the caller. `first` is the index of the method's innermost frame.
WalkStep ToCaller(WalkState& walk, const CodeBlob& blob, uint32_t first) {
  const auto words = static_cast<int32_t>(blob.frame_words);
  Caller caller;
  const int32_t saved = walk.is_top ? PushedBeforeSavedSp(walk) : 0;
  if (saved != 0 && walk.At(CallerOfCompleteFrame(words + saved), &caller) &&
      walk.MayReturnTo(caller.pc)) {
    return walk.To(caller);
  }
  if (walk.At(walk.is_top ? walk.PlaceIn(blob) : CallerOfCompleteFrame(words), &caller) &&
      walk.MayReturnTo(caller.pc)) {
    if (!walk.is_top) Remember(walk, blob, first);
    return walk.To(caller);
  }
  // Intrinsics push a few words, and so does C1 before it calls some of its stubs.
  for (int32_t pushed = 1; walk.is_top && pushed <= kMostPushed; ++pushed) {
    if (!walk.At(CallerOfCompleteFrame(words + pushed), &caller) || !walk.MayReturnTo(caller.pc))
      continue;
    return walk.To(caller);
  }
  return WalkStep::kLost;
}

}  // namespace

WalkStep StepCompiled(WalkState& walk, const CodeBlob& blob) {
  const uint64_t method = walk.layout.nmethod.MethodOf(walk.memory, blob);
  if (blob.frame_words < 0 || !walk.layout.IsMethod(method, walk.memory)) return WalkStep::kLost;
  if (walk.result.is_virtual && walk.IsContinuationEnd(blob)) return WalkStep::kDone;
  const uint32_t first = walk.result.depth;
  if (blob.kind == BlobKind::kNativeMethod) {
    walk.Emit(FrameKind::kNative, method, -1);
  } else {
    EmitScopes(walk, blob, method);
  }
  return ToCaller(walk, blob, first);
}

uint32_t OptimisedMethods(const StackLayout& layout, MemoryReader& memory, uint64_t pc,
                          std::span<uint64_t> out) {
  if (!layout.cache.Holds(memory, pc)) return 0;
  const CodeBlob blob = layout.cache.BlobAt(memory, pc);
  DebugInformation debug;
  if (blob.kind != BlobKind::kMethod || !layout.nmethod.IsC2(memory, blob) ||
      !layout.nmethod.DebugOf(memory, blob, &debug))
    return 0;
  const auto offset = static_cast<int64_t>(pc - blob.begin);
  const uint32_t at = FindScope(memory, debug.pcs, debug.pc_count, offset + 1);
  uint32_t count = 0;
  VisitScopes(layout, memory, debug, at, [&](const Scope&, uint64_t method) {
    if (count < out.size()) out[count++] = method;
  });
  return count;
}

bool StepBySite(WalkState& walk) {
  ReturnSites::Code code;
  const uint32_t count = walk.sites->Find(walk.at.pc, &code, {walk.NextFrame(), walk.Room()});
  if (count == 0) return false;
  const uint64_t header = walk.at.pc - code.header_distance;
  if (walk.layout.nmethod.CompileId(walk.memory, header) != code.compile_id) return false;
  Caller caller;
  if (!walk.At(CallerOfCompleteFrame(static_cast<int32_t>(code.frame_words)), &caller))
    return false;
  if (!walk.sites->Has(caller.pc) && !walk.MayReturnTo(caller.pc)) return false;
  walk.result.depth += count;
  NoteCode(walk, header, code.compile_id);
  walk.To(caller);
  return true;
}

}  // namespace jprof::hotspot
