#include "record/kernel/context_counts.h"

#include <gtest/gtest.h>
#include <kernel_layout.h>

namespace jprof::record {
namespace {

class ContextCountsTest : public testing::Test {
 protected:
  template <typename Layout>
  void Add(uint32_t processor, uint64_t time, uint32_t id, Layout record) {
    record.time = time;
    record.id = id;
    counts_.Add(processor, {reinterpret_cast<const char*>(&record), sizeof record});
  }
  void Dispatch(uint32_t processor, uint32_t previous, uint64_t context, uint32_t next) {
    Add(processor, 0, KERNEL_PROCESSOR_DISPATCH_ID,
        kernel_processor_dispatch_layout{
            .previous_process = previous, .previous_context = context, .next_process = next});
  }
  void Begin(uint32_t processor, uint64_t time, uint64_t context) {
    Add(processor, time, KERNEL_PROCESSOR_INTERRUPT_BEGIN_ID,
        kernel_processor_interrupt_begin_layout{.calling_context = context});
  }
  void End(uint32_t processor, uint64_t time) {
    Add(processor, time, KERNEL_PROCESSOR_INTERRUPT_END_ID,
        kernel_processor_interrupt_end_layout{});
  }

  ContextCounts counts_{2};
};

TEST_F(ContextCountsTest, DispatchesBelongToTheContextThatStops) {
  Dispatch(0, 0, 0, 10);
  Dispatch(0, 10, 5, 20);
  Dispatch(0, 20, 5, 10);
  Dispatch(1, 10, 5, 0);
  Dispatch(1, 0, 0, 10);
  const auto of_ten = counts_.Of(10);
  ASSERT_EQ(of_ten.size(), 1u);
  EXPECT_EQ(of_ten[0].node, 5u);
  EXPECT_EQ(of_ten[0].dispatches, 2u);
  EXPECT_EQ(counts_.Of(20).size(), 1u);
  EXPECT_TRUE(counts_.Of(30).empty());
}

TEST_F(ContextCountsTest, AnInterruptHasThoseNestedInIt) {
  Dispatch(0, 0, 0, 10);
  Dispatch(1, 0, 0, 20);
  Begin(0, 100, 7);
  Begin(1, 110, 8);
  Begin(0, 120, 0);
  End(0, 130);
  End(0, 150);
  End(1, 111);
  const auto found = counts_.Of(10);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].interrupts, 1u);
  EXPECT_EQ(found[0].interrupt_ns, 50u);
  EXPECT_EQ(counts_.Of(20).at(0).interrupt_ns, 1u);
}

TEST_F(ContextCountsTest, WhatIsIncompleteIsNotCounted) {
  Dispatch(0, 0, 0, 10);
  End(0, 10);  // began before the recording
  Begin(0, 20, 7);
  Dispatch(0, 10, 0, 10);  // the end was lost
  End(0, 40);
  Begin(0, 50, 0);  // no context
  End(0, 60);
  counts_.Add(0, "short");
  EXPECT_TRUE(counts_.Of(10).empty());
}

}  // namespace
}  // namespace jprof::record
