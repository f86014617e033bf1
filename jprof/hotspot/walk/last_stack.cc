#include "jprof/hotspot/walk/last_stack.h"

namespace jprof::hotspot {

void LastStack::DiscardKept() {
  steps_.Clear();
  words_.Clear();
  frames_.Clear();
  unchanged_ = 0;
  in_heap_ = false;
  log_.room = kMostWords;
}

void LastStack::Step(const unwind::Registers& at, uint32_t fresh) {
  if (fresh_ == steps_.room()) {
    full_ = true;
    return;
  }
  steps_.fresh()[fresh_++] = {at.pc, at.sp, at.fp, {}, fresh, log_.count, true, false};
}

bool LastStack::Joins(const unwind::Registers& at) {
  while (unchanged_ > 0 && steps_.FromEnd(unchanged_).sp < at.sp) --unchanged_;
  if (unchanged_ == 0 || full_) return false;
  const Place& step = steps_.FromEnd(unchanged_);
  if (!step.joins || step.sp != at.sp || step.pc != at.pc) return false;
  if (step.code.header == 0 && step.fp != at.fp) return false;
  joined_ = unchanged_;
  return true;
}

void LastStack::End(StackWalk* walk, bool again) {
  const Place kept = joined_ != 0 ? steps_.FromEnd(joined_) : Place{};
  for (uint32_t i = 0; i < fresh_; ++i) {  // from here on places count from the end
    Place& step = steps_.fresh()[i];
    step.frames = kept.frames + walk->depth - step.frames;
    step.words = kept.words + log_.count - step.words;
  }
  steps_.Replace(joined_, fresh_);
  words_.Replace(kept.words, log_.count);
  frames_.Replace(kept.frames, walk->depth);
  walk->kept = kept.frames;
  walk->depth += kept.frames;
  if (joined_ != 0) walk->in_heap = in_heap_;
  in_heap_ = walk->in_heap;
  known_ = again && !full_ && !log_.overflow;
}

}  // namespace jprof::hotspot
