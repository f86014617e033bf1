// The result of a thread's last stack walk, with every stack word that it read. Most of a stack is
// unchanged a millisecond later: if all words and the code from some frame outwards are unchanged,
// a new walk that reaches this frame would find the same frames again, so it takes them from here.
//
// The thread owns the object and uses it in its signal handler. It is allocated in zeroed pages,
// because a shallow stack uses few of them.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <span>

#include "jprof/hotspot/walk/stack_frame.h"
#include "jprof/unwind/unwinder.h"

namespace jprof::hotspot {

// A list, innermost first, whose outer part is kept while the remainder is replaced. New items are
// collected at the beginning, then moved before the kept ones, at the end.
template <typename T, uint32_t kRoom>
class OuterList {
 public:
  OuterList() {}  // writes no item

  // Returns the i-th item from the outermost one, which is number 1.
  T& FromEnd(uint32_t i) { return items_[kRoom - i]; }
  T* fresh() { return items_; }
  uint32_t room() const { return kRoom - size_; }  // space for new items
  uint32_t size() const { return size_; }
  std::span<T> all() { return {items_ + kRoom - size_, size_}; }
  void Clear() { size_ = 0; }
  void Replace(uint32_t keep, uint32_t fresh) {
    std::memmove(static_cast<void*>(items_ + kRoom - keep - fresh), items_, fresh * sizeof(T));
    size_ = keep + fresh;
  }

 private:
  uint32_t size_ = 0;
  union {
    T items_[kRoom];
  };
};

class LastStack {
 public:
  static constexpr uint32_t kMostFrames = 2048;

  LastStack() = default;

  // Returns the frames, innermost first.
  std::span<StackFrame> frames() { return frames_.all(); }
  // Makes the next walk complete. Call this when methods may have been freed.
  void Forget() { known_ = false; }

  // --- The following functions are for the walk.

  // The state on which a walk depends, besides the stack.
  struct Setting {
    uint64_t vm_thread = 0, continuation = 0, modules = 0;
    bool operator==(const Setting&) const = default;
  };
  // Identifies a compiled frame's code.
  struct Code {
    uint64_t header = 0;  // 0 if it is not a compiled method
    int32_t compile_id = 0;
  };

  // Begins a walk at `sp`. still(code) returns whether this code is unchanged, and load(address)
  // returns a word of the stack.
  template <typename Still, typename Load>
  void Begin(const Setting& setting, uint64_t sp, Still still, Load load);
  // Records that the walk has reached a frame, after `fresh` new frames.
  void Step(const unwind::Registers& at, uint32_t fresh);
  // Sets the compiled method of that frame, whose caller does not depend on fp.
  void IsOf(const Code& code) { Now().code = code; }
  void MayNotJoin() { Now().joins = false; }  // the walk must not end here
  void Spoil() { Now().spoiled = true; }      // nor further in
  // Returns whether everything from `at` outwards is unchanged. If so, the walk ends: call End.
  bool Joins(const unwind::Registers& at);
  // Discards the frames that might be kept, because there is no space for further new ones
  // besides them.
  void DiscardKept();
  // Adds the new frames to the kept ones. `again` is whether the next walk may reuse the result.
  void End(StackWalk* walk, bool again);

  StackFrame* fresh() { return frames_.fresh(); }
  uint32_t room() const { return frames_.room(); }
  unwind::ReadLog& log() { return log_; }

 private:
  // One step of the walk. Its frames (inlined ones) and words extend from its own indices to those
  // of the next outer step; indices count from the end once the walk is over.
  struct Place {
    uint64_t pc, sp, fp;
    Code code;
    uint32_t frames, words;
    bool joins, spoiled;
  };
  static constexpr uint32_t kMostWords = 4 * kMostFrames;

  Place& Now() { return steps_.fresh()[fresh_ - 1]; }
  template <typename Load>
  bool IsUnchanged(uint32_t step, Load load);

  bool known_ = false, in_heap_ = false;
  Setting setting_;
  uint32_t unchanged_ = 0;  // number of outermost steps that are unchanged
  uint32_t joined_ = 0;     // step at which the walk joined, or 0
  uint32_t fresh_ = 0;      // number of new steps
  bool full_ = false;
  unwind::ReadLog log_;
  OuterList<Place, kMostFrames> steps_;
  OuterList<unwind::ReadLog::Word, kMostWords> words_;
  OuterList<StackFrame, kMostFrames> frames_;
};

template <typename Load>
bool LastStack::IsUnchanged(uint32_t step, Load load) {
  const uint32_t outer = step > 1 ? steps_.FromEnd(step - 1).words : 0;
  for (uint32_t i = outer + 1; i <= steps_.FromEnd(step).words; ++i) {
    const unwind::ReadLog::Word& word = words_.FromEnd(i);
    if (load(word.address) != word.value) return false;
  }
  return true;
}

template <typename Still, typename Load>
void LastStack::Begin(const Setting& setting, uint64_t sp, Still still, Load load) {
  if (!known_ || setting != setting_) DiscardKept();
  setting_ = setting;
  joined_ = fresh_ = 0;
  full_ = false;
  for (unchanged_ = 0; unchanged_ < steps_.size(); ++unchanged_) {
    const Place& step = steps_.FromEnd(unchanged_ + 1);
    if (step.sp < sp || step.spoiled || !IsUnchanged(unchanged_ + 1, load) || !still(step.code))
      break;
  }
  log_ = {words_.fresh(), 0, words_.room()};
}

}  // namespace jprof::hotspot
