#include "model/itrace/arc_stack.h"

#include <gtest/gtest.h>

#include <random>

namespace jprof::reports {
namespace {

using Reason = model::ArcEntry::Reason;

// Finds the same entries by a search of the whole stack.
struct SlowStack {
  std::vector<model::ArcEntry> entries = {model::ArcEntry{}};

  size_t Newest(uint32_t function, size_t from) const {
    for (size_t i = entries.size(); i-- > from;) {
      if (entries[i].function == function) return i;
    }
    return model::ArcStack::kNone;
  }
  size_t NewestReturn(uint32_t function, uint64_t address) const {
    for (size_t i = entries.size(); i-- > 1;) {
      if (model::ReturnsTo(entries[i].call, address) && entries[i - 1].function == function)
        return i;
    }
    return 0;
  }
  size_t NewestOf(auto is_wanted) const {
    for (size_t i = entries.size(); i-- > 1;) {
      if (is_wanted(entries[i])) return i;
    }
    return 0;
  }
};

TEST(ArcStack, FindsWhatASearchFinds) {
  std::mt19937 random(3);
  model::ArcStack stack;
  SlowStack slow;
  for (int step = 0; step < 20'000; ++step) {
    const auto any = [&](uint32_t below) { return static_cast<uint32_t>(random() % below); };
    if (any(40) == 0) {
      const size_t size = 1 + any(static_cast<uint32_t>(slow.entries.size()));
      stack.Cut(size);
      slow.entries.resize(std::min(size, slow.entries.size()));
    }
    const auto reason = static_cast<Reason>(1 + any(5));
    const model::ArcEntry entry = {.function = any(30),
                                   .call = reason == Reason::kCall ? 0x1000 + any(200) : 0,
                                   .reason = reason};
    stack.Push(entry);
    slow.entries.push_back(entry);
    const uint32_t function = any(31), from = any(static_cast<uint32_t>(slow.entries.size()));
    EXPECT_EQ(stack.Newest(function, from), slow.Newest(function, from));
    const uint64_t address = 0x1000 + any(220);
    EXPECT_EQ(stack.NewestReturn(function, address), slow.NewestReturn(function, address));
    EXPECT_EQ(stack.NewestSignal(), slow.NewestOf([](const model::ArcEntry& one) {
      return one.reason == Reason::kSignal;
    }));
    EXPECT_EQ(stack.frame(),
              slow.NewestOf([](const model::ArcEntry& one) { return one.is_frame(); }));
  }
}

// Each level of a recursion jumps into the middle of other code, as into a second cold part.
uint64_t StepsOfRecursion(size_t depth) {
  model::ArcStack stack;
  for (size_t level = 0; level < depth; ++level) {
    stack.Push({.function = 2, .call = 0x1000, .reason = Reason::kCall});
    EXPECT_EQ(stack.Newest(3, stack.frame()), model::ArcStack::kNone);
    EXPECT_EQ(stack.NewestReturn(3, 0x2000), 0u);
    stack.Push({.function = 3, .reason = Reason::kMoved});
  }
  for (size_t level = depth; level > 0; --level) {
    EXPECT_EQ(stack.NewestReturn(3, 0x1005), level == 1 ? 0u : 2 * level - 1);
    EXPECT_EQ(stack.Newest(4, 1), model::ArcStack::kNone);
    stack.Cut(2 * level - 1);
  }
  return stack.steps();
}

TEST(ArcStack, TheCostOfAnEntryDoesNotGrowWithTheDepth) {
  EXPECT_LT(StepsOfRecursion(80'000), 9 * StepsOfRecursion(10'000));
}

}  // namespace
}  // namespace jprof::reports
