#include "jprof/hotspot/stack_walker.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "jprof/hotspot/frame_code.h"
#include "jprof/hotspot/load.h"
#include "jprof/hotspot/return_facts.h"
#include "jprof/hotspot/stack_layout.h"

namespace jprof::hotspot {
namespace {

using unwind::Registers;
using unwind::StackBounds;
using unwind::Unwinder;

constexpr char kCallStub[] = "call_stub";

// What a walk goes by, and where its frames go.
struct Task {
  const StackLayout& layout;
  const Unwinder& unwinder;
  const StackBounds& stack;
  uint64_t vm_thread;
  StackFrame* out;
  uint32_t room;
  // Null: nothing is remembered.
  ReturnFacts* facts = nullptr;
  FrameNames* names = nullptr;  // with facts
  LastStack* last = nullptr;    // with names
};

// One walk: the registers of the frame it has come to, and what it has written.
class Walk {
 public:
  explicit Walk(const Task& task)
      : layout_(task.layout),
        unwinder_(task.unwinder),
        stack_(task.stack),
        thread_(task.vm_thread),
        out_(task.out),
        room_(task.room),
        facts_(task.facts),
        names_(task.names),
        last_(task.last),
        foreign_(task.layout.fetch) {}

  StackWalk All(const Registers& registers, const InterpreterRegisters& interpreter) {
    at_ = registers;
    interpreter_ = interpreter;
    if (thread_ != 0) anchor_ = thread_ + layout_.thread_anchor;
    const uint64_t continuation = NoteContinuation();
    if (last_ == nullptr) return Go(), result_;
    last_->Begin({thread_, continuation, unwinder_.Generation()}, at_.sp,
                 [&](const LastStack::Code& code) {
                   return code.header == 0 || layout_.CompileId(code.header) == code.compile_id;
                 });
    room_ = last_->room();
    Go();
    last_->End(&result_, !result_.unknown && !result_.truncated);
    return result_;
  }

  StackWalk JavaOnly() {
    java_only_ = true;
    is_top_ = false;
    at_.sp = stack_.low;
    anchor_ = thread_ + layout_.thread_anchor;
    if (!ToAnchor()) return result_;
    NoteContinuation();
    Go();
    return result_;
  }

 private:
  enum class Outcome { kCaller, kDone, kLost };
  static constexpr int kMostPushed = 6;     // words
  static constexpr int kMostPrologue = 16;  // bytes, of a stub

  // The caller's registers, before they are accepted.
  struct Caller {
    uint64_t pc, sp, fp;
  };

  void Go() {
    while (!result_.truncated) {
      if (last_ != nullptr && ComeToLast()) return;
      const uint64_t sp = at_.sp;
      const Outcome outcome = IsCode(at_.pc) ? Generated() : Native();
      if (outcome == Outcome::kDone) return;
      const bool upwards = (at_.sp > sp || (is_top_ && at_.sp == sp)) && at_.sp <= stack_.high;
      if (!upwards) at_.sp = sp;
      if (last_ != nullptr && (outcome == Outcome::kLost || !upwards)) last_->Spoil();
      if ((outcome == Outcome::kLost || !upwards) && !ToAnchor()) {
        result_.unknown = true;
        return;
      }
      is_top_ = at_.interrupted;  // a signal's frame was left: again between any two instructions
      interpreter_ = {};
    }
  }

  // Whether the rest is as it was. What a frame's caller is depends on nothing but pc, sp, fp and
  // what is read, unless the frame is interrupted or native (anchors).
  bool ComeToLast() {
    if (!is_top_ && IsCode(at_.pc) && last_->Joins(at_)) return true;
    last_->Step(at_, result_.depth);
    if (is_top_ || !IsCode(at_.pc)) last_->MayNotJoin();
    return false;
  }

  bool IsCode(uint64_t pc) const { return thread_ != 0 && layout_.cache.Holds(pc); }
  // Asked twice in a row of most frames: before and after the step to them.
  const CodeBlob& BlobAt(uint64_t pc) {
    if (pc != blob_pc_) blob_ = layout_.cache.BlobAt(blob_pc_ = pc);
    return blob_;
  }
  uint64_t Word(uint64_t address) const {
    const auto value = LoadAt<uint64_t>(address);
    if (last_ != nullptr) last_->log().Add(address, value);
    return value;
  }
  bool OnStack(uint64_t address, uint64_t bytes = 8) const {
    return address % 8 == 0 && address >= at_.sp && stack_.Holds(address, bytes);
  }

  // The entry of the virtual thread that is walked; 0: none.
  uint64_t NoteContinuation() {
    if (thread_ == 0 || layout_.continuation_entry < 0) return 0;
    const auto entry = LoadAt<uint64_t>(thread_ + layout_.continuation_entry);
    result_.is_virtual = entry != 0 && at_.sp < entry && stack_.Holds(entry, 8);
    return result_.is_virtual ? entry : 0;
  }

  void Emit(MethodType type, uint64_t method, int32_t bci) { EmitAt(at_.pc, type, method, bci); }
  void EmitAt(uint64_t pc, MethodType type, uint64_t method, int32_t bci) {
    if (result_.depth == room_ && !MakeRoom()) {
      result_.truncated = true;
      return;
    }
    StackFrame& frame = out_[result_.depth++] = {type, bci, method, pc};
    if (names_ != nullptr) frame.word = names_->WordOf(frame);
  }
  bool MakeRoom() {
    if (last_ == nullptr) return false;
    last_->GiveUpRest();
    room_ = last_->room();
    return result_.depth < room_;
  }
  void EmitStub(const char* name) {
    if (!java_only_) Emit(MethodType::kOther, reinterpret_cast<uint64_t>(name), -1);
  }

  Outcome Step(const Caller& caller) {
    at_ = Registers{.pc = caller.pc, .sp = caller.sp, .fp = caller.fp};
    return Outcome::kCaller;
  }

  // To the Java frame that the thread left for native code or the VM, if it is further up: what the
  // VM itself goes by.
  bool ToAnchor() {
    if (anchor_ == 0) return false;
    const uint64_t anchor = std::exchange(anchor_, 0);
    const uint64_t sp = Word(anchor + layout_.anchor_sp);
    if (!OnStack(sp) || !stack_.Holds(sp - 8, 8)) return false;
    const uint64_t pc = Word(anchor + layout_.anchor_pc);
    Step({pc != 0 ? pc : Word(sp - 8), sp, Word(anchor + layout_.anchor_fp)});
    return IsCode(at_.pc);
  }

  Outcome Native() {
    uint64_t function = 0;
    const uint64_t pc = at_.pc;
    const auto step =
        unwinder_.Next(at_, stack_, is_top_, &function, last_ != nullptr ? &last_->log() : nullptr);
    EmitAt(pc, MethodType::kFunction, function != 0 ? function : pc, -1);
    switch (step) {
      case Unwinder::Step::kStepped:
        if (IsCode(at_.pc) && !at_.interrupted) ToAnchorHere();
        return Outcome::kCaller;
      case Unwinder::Step::kOutermost:
        return Outcome::kDone;
      default:
        return Outcome::kLost;
    }
  }

  // Native code was left for generated code; if that told where it stands, its word is better than
  // what was unwound.
  void ToAnchorHere() {
    const Registers unwound = at_;
    const uint64_t anchor = anchor_;
    at_.sp -= 16;  // the call that reached native code may have been one of a small stub's
    if (!ToAnchor()) {
      at_ = unwound;
      anchor_ = anchor;
    }
  }

  Outcome Generated() {
    if (facts_ != nullptr && !is_top_ && Recall()) return Outcome::kCaller;
    const CodeBlob blob = BlobAt(at_.pc);  // a copy: looking for the caller asks for others
    if (at_.pc == *layout_.call_stub_return) return CallStub();
    switch (blob.kind) {
      case CodeBlob::Kind::kNone:
        return Outcome::kLost;
      case CodeBlob::Kind::kInterpreter:
        return Interpreted(blob);
      case CodeBlob::Kind::kMethod:
      case CodeBlob::Kind::kNativeMethod:
        return Compiled(blob);
      case CodeBlob::Kind::kUpcall:
        return Upcall(blob);
      case CodeBlob::Kind::kAdapter:
        return Adapter(blob);
      default:
        return Stub(blob);
    }
  }

  // --- From native code into Java: continue in native code, or at the Java code that called that.

  Outcome ToNativeCaller(uint64_t anchor) {
    if (!OnStack(at_.fp, 16) || !OnStack(anchor, 24)) return Outcome::kLost;
    anchor_ = anchor;
    const Caller caller = {Word(at_.fp + 8), at_.fp + 16, Word(at_.fp)};
    if (!java_only_) return Step(caller);
    if (Word(anchor + layout_.anchor_sp) == 0) return Outcome::kDone;
    return ToAnchor() ? Outcome::kCaller : Outcome::kLost;
  }

  Outcome CallStub() {
    EmitStub(kCallStub);
    if (!OnStack(at_.fp + InterpreterFrame::kCallWrapper * 8)) return Outcome::kLost;
    return ToNativeCaller(Word(at_.fp + InterpreterFrame::kCallWrapper * 8) +
                          layout_.wrapper_anchor);
  }

  Outcome Upcall(const CodeBlob& blob) {
    EmitStub(blob.name);
    if (is_top_ || layout_.upcall_frame_data < 0) return StubCaller(blob);
    return ToNativeCaller(at_.sp + LoadAt<int32_t>(blob.header + layout_.upcall_frame_data));
  }

  // --- Compiled methods.

  // By what was found at this return address before.
  bool Recall() {
    ReturnFacts::Code code;
    StackFrame* const out = out_ + result_.depth;
    const uint32_t count = facts_->Find(at_.pc, &code, {out, room_ - result_.depth});
    if (count == 0) return false;
    const uint64_t header = at_.pc - code.header_distance;
    if (layout_.CompileId(header) != code.compile_id) return false;
    Caller caller;
    if (!At(Standing(static_cast<int32_t>(code.frame_words)), &caller)) return false;
    if (!facts_->Has(caller.pc) && !MayReturnTo(caller.pc)) return false;
    result_.depth += count;
    NoteCode(header, code.compile_id);
    Step(caller);
    return true;
  }
  // `first`: of the frames that the address stands for.
  void Remember(const CodeBlob& blob, uint32_t first) {
    const int32_t id = layout_.CompileId(blob.header);
    NoteCode(blob.header, id);
    if (facts_ == nullptr || layout_.IsDeoptHandler(blob, at_.pc) || IsContinuationEnd(blob))
      return;
    facts_->Add(
        at_.pc,
        {static_cast<uint32_t>(at_.pc - blob.header), id, static_cast<uint32_t>(blob.frame_words)},
        {out_ + first, out_ + result_.depth});
  }
  void NoteCode(uint64_t header, int32_t id) {
    if (last_ != nullptr) last_->IsOf({header, id});
  }
  // enterSpecial, below which is the carrier.
  bool IsContinuationEnd(const CodeBlob& blob) const {
    return layout_.continuation_return != nullptr && blob.Holds(*layout_.continuation_return);
  }

  Outcome Compiled(const CodeBlob& blob) {
    const uint64_t method = layout_.MethodOf(blob);
    if (blob.frame_words < 0 || !layout_.IsMethod(method, foreign_)) return Outcome::kLost;
    if (result_.is_virtual && IsContinuationEnd(blob)) return Outcome::kDone;
    const uint32_t first = result_.depth;
    if (blob.kind == CodeBlob::Kind::kNativeMethod) {
      Emit(MethodType::kNative, method, -1);
    } else {
      EmitScopes(blob, method);
    }
    return CompiledCaller(blob, first);
  }

  Outcome CompiledCaller(const CodeBlob& blob, uint32_t first) {
    const auto words = static_cast<int32_t>(blob.frame_words);
    Caller caller;
    const int32_t saved = is_top_ ? PushedBeforeSavedSp() : 0;
    if (saved != 0 && At(Standing(words + saved), &caller) && MayReturnTo(caller.pc)) {
      return Step(caller);
    }
    if (At(is_top_ ? PlaceIn(blob) : Standing(words), &caller) && MayReturnTo(caller.pc)) {
      if (!is_top_) Remember(blob, first);
      return Step(caller);
    }
    // Intrinsics push a few words, and so does C1 before it calls some of its stubs.
    for (int32_t pushed = 1; is_top_ && pushed <= kMostPushed; ++pushed) {
      if (!At(Standing(words + pushed), &caller) || !MayReturnTo(caller.pc)) continue;
      return Step(caller);
    }
    return Outcome::kLost;
  }

  // String.indexOf pushes the sp it began with, maybe above room for a short string, whose words
  // may hold old return addresses. 0: that is not what was pushed last.
  int32_t PushedBeforeSavedSp() const {
    const uint64_t words = OnStack(at_.sp) ? (Word(at_.sp) - at_.sp) / 8 : 0;
    return words == 1 || words == 3 ? static_cast<int32_t>(words) : 0;
  }

  CallerPlace PlaceIn(const CodeBlob& blob) const {
    return CallerInCompiled(reinterpret_cast<const uint8_t*>(blob.begin), blob.end - blob.begin,
                            at_.pc - blob.begin, blob.complete,
                            static_cast<int32_t>(blob.frame_words));
  }

  // Frames of a compiled method: what is inlined first.
  void EmitScopes(const CodeBlob& blob, uint64_t method) {
    const MethodType own = layout_.IsOptimised(blob) ? MethodType::kRejitted : MethodType::kJitted;
    DebugInformation debug;
    Scope scope;
    uint32_t at = layout_.DebugOf(blob, &debug) ? ScopeAt(blob, debug) : 0;
    bool any = false;
    while (at != 0 &&
           ReadScope(foreign_, debug.scopes, debug.scopes_size, at, layout_.coding, &scope)) {
      if (scope.method == 0 || scope.method > debug.metadata_count) break;
      const uint64_t inlined = foreign_.Get<uint64_t>(debug.metadata + (scope.method - 1) * 8);
      if (!layout_.IsMethod(inlined, foreign_)) break;
      Emit(scope.sender == 0 ? own : MethodType::kInlined, inlined, std::max(scope.bci, 0));
      any = scope.sender == 0;
      at = scope.sender;
    }
    if (!any) Emit(own, method, -1);
  }

  // A return address has an entry of its own. Any other instruction belongs to the next one, as the
  // VM sees it.
  uint32_t ScopeAt(const CodeBlob& blob, const DebugInformation& debug) {
    const bool may_be = !is_top_ && OnStack(at_.sp, blob.frame_words * 8);
    const uint64_t original = may_be ? layout_.DeoptimisedPc(blob, at_.pc, at_.sp) : 0;
    if (original != 0 && last_ != nullptr) last_->Spoil();  // it stands in the frame
    const int64_t offset = (original != 0 ? original : at_.pc) - blob.begin;
    return FindScope(foreign_, debug.pcs, debug.pc_count, offset + (is_top_ ? 1 : 0));
  }

  // --- The interpreter.

  Outcome Interpreted(const CodeBlob& blob) {
    if (is_top_) {
      const uint64_t* frame_from = layout_.entries.FrameFrom(at_.pc);
      if (frame_from != nullptr && (*frame_from == 0 || at_.pc < *frame_from))
        return Entering(blob, *frame_from);
      const auto code = [](uint64_t address) { return reinterpret_cast<const uint8_t*>(address); };
      const int removed = FrameRemoved(code(blob.begin), code(at_.pc), code(blob.end));
      if (removed != 0) return Leaving(removed);
    }
    return InterpretedFrame(blob, is_top_ && layout_.entries.FrameFrom(at_.pc) != nullptr);
  }

  // In a method entry, before fp is the frame's.
  Outcome Entering(const CodeBlob& blob, uint64_t frame_from) {
    if (layout_.IsMethod(interpreter_.entry_method, foreign_)) {
      EmitInterpreted(interpreter_.entry_method, 0);
    } else {
      EmitStub(blob.name);
    }
    if (kCallPushes && frame_from != 0 && at_.pc == frame_from - 3 &&
        OnStack(at_.sp, 16)) {  // fp pushed already
      const uint64_t sp = interpreter_.entry_sp;
      return Step({Word(at_.sp + 8), OnStack(sp) ? sp : at_.sp + 16, Word(at_.sp)});
    }
    return BeforeFrame();
  }

  // After its frame is gone, before the jump to the caller: the method has returned.
  Outcome Leaving(int removed) {
    const uint64_t pc = removed == 1 ? Word(at_.sp) : interpreter_.leave_return;
    if (!MayReturnTo(pc)) return Outcome::kLost;
    const uint64_t least = at_.sp + (removed == 1 ? 8 : 0), sp = interpreter_.leave_sp;
    return Step({pc, OnStack(sp) && sp > least ? sp : least, at_.fp});
  }

  Outcome InterpretedFrame(const CodeBlob& blob, bool in_entry) {
    const uint64_t fp = at_.fp;
    if (!OnStack(fp, 16)) return Outcome::kLost;
    const auto slot = [&](int word) { return fp + word * 8; };
    uint64_t method =
        at_.sp <= slot(InterpreterFrame::kMethod) ? Word(slot(InterpreterFrame::kMethod)) : 0;
    if (method == 0 && in_entry) method = interpreter_.entry_method;
    if (!layout_.IsMethod(method, foreign_)) {
      if (!in_entry) return Outcome::kLost;
      EmitStub(blob.name);
    } else {
      const bool whole = at_.sp <= slot(InterpreterFrame::kBcp);
      EmitInterpreted(method, whole ? Word(slot(InterpreterFrame::kBcp)) : 0);
    }
    // The first word that is pushed below fp.
    const uint64_t sender_sp = at_.sp <= slot(InterpreterFrame::kSenderSp)
                                   ? Word(slot(InterpreterFrame::kSenderSp))
                                   : interpreter_.entry_sp;
    const uint64_t caller_sp = OnStack(sender_sp) ? std::max(sender_sp, fp + 16) : fp + 16;
    const uint64_t pc = Word(fp + 8);
    return MayReturnTo(pc) ? Step({pc, caller_sp, Word(fp)}) : Outcome::kLost;
  }

  void EmitInterpreted(uint64_t method, uint64_t bcp) {
    const MethodShape shape = layout_.ShapeOf(method, foreign_);
    if (shape.is_native) return Emit(MethodType::kNative, method, -1);
    const auto in_code = [&](uint64_t at) {
      return at >= shape.code && at < shape.code + shape.code_size;
    };
    if (is_top_ && in_code(interpreter_.bcp)) bcp = interpreter_.bcp;
    Emit(MethodType::kInterpreted, method,
         in_code(bcp) ? static_cast<int32_t>(bcp - shape.code) : 0);
  }

  // Between a call and the frame of what is called (adapters, method entries): the return address
  // is on top of the stack, or under the sp that the caller had, or in a register.
  Outcome BeforeFrame() {
    const uint64_t top = kCallPushes && OnStack(at_.sp) ? Word(at_.sp) : at_.link;
    if (MayReturnTo(top)) return ToCaller(top, at_.sp + (kCallPushes ? 8 : 0));
    const uint64_t under = interpreter_.entry_sp - 8;
    if (kCallPushes && OnStack(under) && MayReturnTo(Word(under))) {
      return ToCaller(Word(under), interpreter_.entry_sp);
    }
    const uint64_t popped = interpreter_.entry_return;
    return MayReturnTo(popped) ? ToCaller(popped, at_.sp) : Outcome::kLost;
  }

  // The caller's sp is what it seems, or in the register that says it for the interpreter (which is
  // not always set yet): a compiled caller's frame must stand there.
  Outcome ToCaller(uint64_t pc, uint64_t sp) {
    const uint64_t entry_sp = interpreter_.entry_sp;
    const bool by_register =
        OnStack(entry_sp) && entry_sp > sp && !IsFrameOf(pc, sp) && IsFrameOf(pc, entry_sp);
    return Step({pc, by_register ? entry_sp : sp, at_.fp});
  }

  // Whether the compiled method that `pc` lies in may have its frame at sp: it returns to
  // somewhere.
  bool IsFrameOf(uint64_t pc, uint64_t sp) {
    const CodeBlob& blob = BlobAt(pc);
    if (blob.kind != CodeBlob::Kind::kMethod && blob.kind != CodeBlob::Kind::kNativeMethod)
      return false;
    const uint64_t slot = sp + (blob.frame_words - 1) * 8;
    return blob.frame_words > 0 && OnStack(slot) && MayReturnTo(Word(slot));
  }

  // --- Adapters.

  Outcome Adapter(const CodeBlob& blob) {
    EmitStub(blob.name);
    const auto code = [](uint64_t address) { return reinterpret_cast<const uint8_t*>(address); };
    if (!AdapterCallsVm(code(blob.begin), code(at_.pc))) {
      return is_top_ ? BeforeFrame() : Outcome::kLost;
    }
    uint64_t entry =
        kCallPushes ? interpreter_.entry_sp : at_.fp + 8;  // where the return address is
    if (kCallPushes && !is_top_) {
      const int32_t word = AdapterSaved(code(at_.pc), code(blob.end));
      const uint64_t slot = at_.sp + static_cast<int64_t>(word) * 8;
      entry = word >= 0 && OnStack(slot) ? Word(slot) : 0;
    }
    if (!OnStack(entry) || !MayReturnTo(Word(entry))) return Outcome::kLost;
    return Step({Word(entry), entry + 8, kCallPushes ? at_.fp : Word(at_.fp)});
  }

  // --- Stubs.

  static bool IsContinuationStub(const CodeBlob& blob) {
    return std::strstr(blob.name, "ontinuation") != nullptr;  // "StubRoutines (continuation stubs)"
  }

  Outcome Stub(const CodeBlob& blob) {
    if (result_.is_virtual && blob.frame_words <= 0 && (!is_top_ || IsContinuationStub(blob))) {
      result_.in_heap = true;  // the return barrier, or the stub that brings frames back
      return Outcome::kDone;
    }
    EmitStub(blob.name);
    return StubCaller(blob);
  }

  Outcome StubCaller(const CodeBlob& blob) {
    Caller caller;
    const auto words = static_cast<int32_t>(blob.frame_words);
    if (words > 0 && !is_top_) {
      if (At(Standing(words), &caller) && IsJavaCode(caller.pc)) return Step(caller);
    } else if (words > 0) {
      CallerPlace place = PlaceIn(blob);
      // No instruction was found that makes the frame: but it is not at the beginning either.
      if (place == CallerPlace{0, -1, 1} && at_.pc > blob.begin + kMostPrologue) {
        place = Standing(words);
      }
      if (At(place, &caller) && MayReturnTo(caller.pc)) return Step(caller);
    }
    if (is_top_ && Called(blob, &caller)) return Step(caller);
    return ByFramePointer();
  }

  Outcome ByFramePointer() {
    constexpr uint64_t kCookie =
        ~uint64_t{0};  // what a compiled method's entry barrier pushes first
    uint64_t target, slot = at_.fp + 8;
    if (!OnStack(at_.fp, 24)) return Outcome::kLost;
    if (Word(slot) == kCookie) slot += 8;
    if (!StubMayReturnTo(Word(slot), &target)) return Outcome::kLost;
    return Step({Word(slot), slot + 8, Word(at_.fp)});
  }

  // The first return address on the stack that follows a call of this very blob. Its fp is saved
  // just below, if the stub makes a frame by fp.
  bool Called(const CodeBlob& blob, Caller* caller) {
    constexpr int kMostWords = 64;
    const bool is_jumped_to =
        blob.complete < 0 && blob.frame_words > 0;  // by exceptions, deoptimisation
    if (!kCallPushes && MayReturnTo(at_.link)) return *caller = {at_.link, at_.sp, at_.fp}, true;
    for (uint64_t slot = at_.sp; slot < at_.sp + kMostWords * 8 && OnStack(slot); slot += 8) {
      uint64_t target = 0;
      if (!StubMayReturnTo(Word(slot), &target)) continue;
      const bool ours = target >= blob.header && target < blob.header + blob.size;
      const bool by_fp = at_.fp + 8 == slot && OnStack(at_.fp);
      const bool near = slot == at_.sp || by_fp;
      // Further up, old words lie about: only a call of this blob will do, as far as calls say.
      const bool is_compiled =
          IsCode(Word(slot)) && BlobAt(Word(slot)).kind == CodeBlob::Kind::kMethod;
      if (!near && (!is_compiled || (!ours && target != 0 && !is_jumped_to))) continue;
      const uint64_t pushed = 8 * PushedFor(Word(slot));
      *caller = {Word(slot), slot + 8 + pushed, by_fp ? Word(at_.fp) : at_.fp};
      return true;
    }
    return false;
  }

  // C1 pushes the arguments of one of its stubs, and pops them after the call.
  uint64_t PushedFor(uint64_t return_address) {
    const CodeBlob& blob = BlobAt(return_address);
    if (blob.kind != CodeBlob::Kind::kMethod) return 0;
    return WordsPopped(reinterpret_cast<const uint8_t*>(return_address),
                       reinterpret_cast<const uint8_t*>(blob.end));
  }

  // Where a stub may have been entered by other means than a call: a poll, an exception.
  bool IsJavaCode(uint64_t pc) {
    if (!IsCode(pc)) return false;
    const CodeBlob::Kind kind = BlobAt(pc).kind;
    return kind == CodeBlob::Kind::kMethod || kind == CodeBlob::Kind::kNativeMethod ||
           kind == CodeBlob::Kind::kInterpreter || pc == *layout_.call_stub_return;
  }

  // --- What all share.

  bool At(const CallerPlace& place, Caller* caller) const {
    const auto slot = [&](int32_t word) { return at_.sp + static_cast<int64_t>(word) * 8; };
    if (place.return_address >= 0 && !OnStack(slot(place.return_address))) return false;
    if (place.fp >= 0 && !OnStack(slot(place.fp))) return false;
    caller->pc = place.return_address < 0 ? at_.link : Word(slot(place.return_address));
    caller->fp = place.fp < 0 ? at_.fp : Word(slot(place.fp));
    caller->sp = slot(place.sp);
    return true;
  }

  // Whether generated code may return there. `target`: what was called, as far as the call says.
  bool MayReturnTo(uint64_t pc, uint64_t* target = nullptr) {
    uint64_t ignored;
    if (target == nullptr) target = &ignored;
    *target = 0;
    if (!IsCode(pc)) return false;
    if (pc == *layout_.call_stub_return) return true;
    const CodeBlob& blob = BlobAt(pc);
    switch (blob.kind) {
      case CodeBlob::Kind::kNone:
      case CodeBlob::Kind::kAdapter:
        return false;
      case CodeBlob::Kind::kInterpreter:
        return true;
      case CodeBlob::Kind::kMethod:
      case CodeBlob::Kind::kNativeMethod:
        return FollowsCall(blob.begin, pc, target) || layout_.IsDeoptHandler(blob, pc);
      default:
        return result_.is_virtual || FollowsCall(blob.begin, pc, target);
    }
  }

  // The same for a stub: native code calls some, as the call stub.
  bool StubMayReturnTo(uint64_t pc, uint64_t* target) {
    if (IsCode(pc)) return MayReturnTo(pc, target);
    unwind::Function function;
    if (pc < 4096 || !unwinder_.FunctionAt(pc - 1, &function)) return false;
    return foreign_.Reaches(pc - 16, 16) && FollowsCall(pc - 16, pc, target);
  }

  static bool FollowsCall(uint64_t begin, uint64_t pc, uint64_t* target) {
    return AfterCall(reinterpret_cast<const uint8_t*>(begin), reinterpret_cast<const uint8_t*>(pc),
                     target);
  }

  const StackLayout& layout_;
  const Unwinder& unwinder_;
  const StackBounds stack_;
  const uint64_t thread_;
  StackFrame* const out_;
  uint32_t room_;
  ReturnFacts* const facts_;
  FrameNames* const names_;
  LastStack* const last_;
  Registers at_;
  InterpreterRegisters interpreter_;
  uint64_t anchor_ =
      0;  // address of the one that holds for the native code walked now; 0: none, or taken
  bool is_top_ = true, java_only_ = false;
  Foreign foreign_;
  CodeBlob blob_;
  uint64_t blob_pc_ = 0;
  StackWalk result_;
};

}  // namespace

struct StackWalker::Layout : StackLayout {
  mutable ReturnFacts facts;
  mutable std::atomic<int64_t> environment_offset =
      0;  // of a JavaThread's JNIEnv; 0: not known yet

  // Whether a JavaThread of the calling thread begins at an address.
  bool IsOwnThread(uint64_t address, uint64_t sp, Foreign& foreign) const {
    const auto os = foreign.Get<uint64_t>(address + thread_os);
    const auto base = foreign.Get<uint64_t>(address + thread_stack_base);
    const auto size = foreign.Get<uint64_t>(address + thread_stack_size);
    return sp < base && sp >= base - size &&
           foreign.Get<int32_t>(os + os_id) == static_cast<int32_t>(syscall(SYS_gettid));
  }
};

Result<StackWalker> StackWalker::Open(const VmStructs& structs, const unwind::Unwinder& unwinder) {
  auto* layout = new Layout;
  if (const auto image = LibjvmImage::Open()) layout->fetch = Foreign::FetchOf(*image);
  if (const char* missing = layout->Open(structs)) {
    delete layout;
    return Fail("stacks cannot be walked in this JVM: it does not say where its {} is", missing);
  }
  StackWalker walker;
  walker.layout_ = layout;
  walker.unwinder_ = &unwinder;
  return walker;
}

uint64_t StackWalker::VmThreadOf(const void* jni_env) const {
  const auto environment = reinterpret_cast<uint64_t>(jni_env);
  if (environment == 0) return 0;
  if (const int64_t offset = layout_->environment_offset.load(std::memory_order_relaxed))
    return environment - offset;
  Foreign foreign(nullptr);  // maybe too early for the VM's handler
  const auto sp = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
  for (int64_t offset = 8; offset < layout_->thread_bytes; offset += 8) {
    const uint64_t thread = environment - offset;
    if (!layout_->IsOwnThread(thread, sp, foreign)) continue;
    layout_->environment_offset.store(offset, std::memory_order_relaxed);
    return thread;
  }
  return 0;
}

StackWalk StackWalker::Walk(const Registers& registers, const StackBounds& stack,
                            uint64_t vm_thread, StackFrame* out, uint32_t room) const {
  return hotspot::Walk({*layout_, *unwinder_, stack, vm_thread, out, room}).All(registers, {});
}

StackWalk StackWalker::WalkSignal(const void* ucontext, const StackBounds& stack,
                                  uint64_t vm_thread, StackFrame* out, uint32_t room) const {
  return hotspot::Walk({*layout_, *unwinder_, stack, vm_thread, out, room})
      .All(unwind::OfSignal(ucontext), InterpreterRegistersOf(ucontext));
}

StackWalk StackWalker::WalkSignal(const void* ucontext, const StackBounds& stack,
                                  uint64_t vm_thread, FrameNames& names, LastStack& last) const {
  return hotspot::Walk({*layout_, *unwinder_, stack, vm_thread, last.fresh(), 0, &layout_->facts,
                        &names, &last})
      .All(unwind::OfSignal(ucontext), InterpreterRegistersOf(ucontext));
}

StackWalk StackWalker::WalkJava(const StackBounds& stack, uint64_t vm_thread, StackFrame* out,
                                uint32_t room, FrameNames* names) const {
  if (vm_thread == 0) return {};
  return hotspot::Walk({*layout_, *unwinder_, stack, vm_thread, out, room,
                        names != nullptr ? &layout_->facts : nullptr, names})
      .JavaOnly();
}

}  // namespace jprof::hotspot
