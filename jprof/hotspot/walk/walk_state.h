// The state of one stack walk: the current frame, the inputs, and the results. The steps from a
// frame to its caller, by kind of frame, are in the other walk_*.h; walk.h selects them.
//
// It can be used in a signal handler of the walked thread, see stack_walker.h. Words of the stack
// are read only after OnStack, all other memory through `memory`.
#pragma once

#include <cstdint>

#include "jprof/hotspot/vm/frame_code.h"
#include "jprof/hotspot/vm/memory_reader.h"
#include "jprof/hotspot/walk/last_stack.h"
#include "jprof/hotspot/walk/return_sites.h"
#include "jprof/hotspot/walk/stack_frame.h"
#include "jprof/hotspot/walk/stack_layout.h"
#include "jprof/unwind/unwinder.h"

namespace jprof::hotspot {

// The inputs of a walk, and the destination of its frames.
struct WalkTask {
  const StackLayout& layout;
  const unwind::Unwinder& unwinder;
  MemoryReader memory;
  unwind::StackBounds stack;
  uint64_t vm_thread;  // 0 for native frames only
  StackFrame* out;
  uint32_t room;
  ReturnSites* sites = nullptr;  // null if nothing is cached
  FrameNames* names = nullptr;   // null without sites
  LastStack* last = nullptr;     // null without names
};

// The result of a step from a frame to its caller.
enum class WalkStep {
  kCaller,  // the registers are the caller's
  kDone,    // there is no caller that this walk includes
  kLost,    // the frame is invalid
};

// The registers of a caller.
struct Caller {
  uint64_t pc, sp, fp;
};

class WalkState {
 public:
  explicit WalkState(const WalkTask& task)
      : layout(task.layout),
        unwinder(task.unwinder),
        stack(task.stack),
        thread(task.vm_thread),
        sites(task.sites),
        names(task.names),
        last(task.last),
        memory(task.memory),
        out_(task.out),
        room_(task.room) {}
  WalkState(const WalkState&) = delete;

  // --- The following functions read memory.

  bool IsCode(uint64_t pc) const { return thread != 0 && layout.cache.Holds(memory, pc); }
  // Returns the blob around `pc`. It is cached: most frames are looked up twice in a row, before
  // and after the step to them.
  const CodeBlob& BlobAt(uint64_t pc) {
    if (pc != blob_pc_) blob_ = layout.cache.BlobAt(memory, blob_pc_ = pc);
    return blob_;
  }
  // Reads a word of the stack that the result depends on.
  uint64_t Word(uint64_t address) const {
    const auto value = memory.At<uint64_t>(address);
    if (last != nullptr) last->log().Add(address, value);
    return value;
  }
  // Returns whether an address is in the part of the stack that the frame and its callers occupy.
  bool OnStack(uint64_t address, uint64_t bytes = 8) const {
    return address % 8 == 0 && address >= at.sp && stack.Holds(address, bytes);
  }
  // Reads the caller. Returns false if its place is not on the stack.
  bool At(const CallerPlace& place, Caller* caller) const;
  // Returns whether generated code may return there. Sets `target` to the called address if
  // the call contains it.
  bool MayReturnTo(uint64_t pc, uint64_t* target = nullptr);
  // Returns whether the instruction before `pc` is a call. Reads nothing before `begin`.
  bool FollowsCall(uint64_t begin, uint64_t pc, uint64_t* target) const;
  // The bytes around the frame's pc: the given numbers before and after, within the blob.
  struct CodeAround {
    const uint8_t *begin, *at, *end;
  };
  CodeAround CodeAt(const CodeBlob& blob, uint64_t pc, uint64_t before, uint64_t after) const;
  // Returns the caller's place, from the instructions around the pc of a frame that was
  // interrupted in `blob`.
  CallerPlace PlaceIn(const CodeBlob& blob) const;
  // Returns whether this is the method at the end of every continuation (enterSpecial). The
  // carrier's frames follow.
  bool IsContinuationEnd(const CodeBlob& blob) const {
    return layout.continuation_return != 0 &&
           blob.Holds(memory.At<uint64_t>(layout.continuation_return));
  }
  bool IsCallStub(uint64_t pc) const { return pc == memory.At<uint64_t>(layout.call_stub_return); }

  // --- The following functions move from frame to frame.

  WalkStep To(const Caller& caller) {
    at = unwind::Registers{.pc = caller.pc, .sp = caller.sp, .fp = caller.fp};
    return WalkStep::kCaller;
  }
  // Moves to the Java frame that the thread left for native code or the VM, if it is further up.
  // This frame, the anchor, is the one that the VM itself uses.
  bool ToAnchor();
  // Records the entry of the virtual thread that is walked, and returns it, or 0 if there is none.
  uint64_t NoteContinuation();

  // --- The following functions add to the results.

  void Emit(FrameKind type, uint64_t method, int32_t bci) { EmitAt(at.pc, type, method, bci); }
  void EmitAt(uint64_t pc, FrameKind type, uint64_t method, int32_t bci);
  void EmitStub(const char* name) {
    if (!java_only) Emit(FrameKind::kOther, reinterpret_cast<uint64_t>(name), -1);
  }
  // Returns the destination of the next frame, for callers that write it themselves. Room() is
  // the remaining space.
  StackFrame* NextFrame() const { return out_ + result.depth; }
  StackFrame* FrameOf(uint32_t i) const { return out_ + i; }
  uint32_t Room() const { return room_ - result.depth; }
  void UseBufferOf(LastStack& of) { room_ = of.room(); }

  const StackLayout& layout;
  const unwind::Unwinder& unwinder;
  const unwind::StackBounds stack;
  const uint64_t thread;
  ReturnSites* const sites;
  FrameNames* const names;
  LastStack* const last;
  MemoryReader memory;

  unwind::Registers at;              // those of the current frame
  InterpreterRegisters interpreter;  // those of the innermost frame, else zeroes
  // The address of the anchor that applies to the current native code, or 0 if there is none or
  // it was already used.
  uint64_t anchor = 0;
  bool is_top = true;  // the frame was interrupted: pc is not a return address
  bool java_only = false;
  StackWalk result;

 private:
  bool MakeRoom();

  StackFrame* const out_;
  uint32_t room_;
  CodeBlob blob_;
  uint64_t blob_pc_ = 0;
};

}  // namespace jprof::hotspot
