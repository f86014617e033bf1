// What the kernel did in the calling contexts, in the tree that readers get.
#include <gtest/gtest.h>

#include <fstream>

#include "profile/read/reader.h"
#include "tests/unit/profile/synthetic_profile.h"
#include "tests/unit/temporary_directory.h"

namespace jprof::profile {
namespace {

using enum FrameKind;

class KernelCountsTest : public testing::Test {
 protected:
  KernelCountsTest() {
    const size_t thread = profile_.AddThread("main", 7);
    profile_.Enter(thread, profile_.AddMethod("A", "run", "()V"), kInterpreted, 0);
    profile_.Enter(thread, profile_.AddMethod("B", "run", "()V"), kJitted, 500);
    profile_.Exit(thread, 3000);
    profile_.Exit(thread, 20);
    profile_.Write(directory_.path());
  }

  void Write(const std::vector<KernelCounts>& counts) const {
    std::ofstream(directory_.path() / kKernelCountsFile, std::ios::binary)
        .write(reinterpret_cast<const char*>(counts.data()),
               static_cast<std::streamsize>(counts.size() * sizeof counts[0]));
  }
  Reader Open() const { return *Reader::Open(directory_.path()); }

  // The nodes of the file: 0 is not used, 1 is the thread.
  static constexpr uint32_t kA = 2, kB = 3;
  const TemporaryDirectory directory_{"kernel-counts"};
  SyntheticProfile profile_;
};

TEST_F(KernelCountsTest, ATreeWithoutThemHasNoInterrupts) {
  Reader reader = Open();
  EXPECT_EQ(reader.meta().metrics.size(), 1u);
  EXPECT_TRUE(reader.ReadTree()->interrupts.empty());
}

TEST_F(KernelCountsTest, AreThoseOfTheirContexts) {
  Write({{.node = kA, .dispatches = 4, .interrupts = 1, .interrupt_ns = 100},
         {.node = kB, .dispatches = 0, .interrupts = 3, .interrupt_ns = 1500}});
  Reader reader = Open();
  ASSERT_EQ(reader.meta().metrics.size(), 2u);
  EXPECT_EQ(reader.meta().metrics[1].name, kNoInterrupts);
  const CallTree tree = *reader.ReadTree();
  EXPECT_EQ(tree.dispatches, (std::vector<uint32_t>{0, 4, 0}));
  EXPECT_EQ(tree.interrupts, (std::vector<uint32_t>{0, 1, 3}));
  ASSERT_EQ(tree.metrics.size(), 2u);
  EXPECT_EQ(tree.metrics[0], (std::vector<int64_t>{0, 520, 3000}));
  for (size_t i = 0; i < tree.size(); ++i)
    EXPECT_EQ(tree.metrics[1][i], tree.metrics[0][i] - (i == 1 ? 100 : i == 2 ? 1500 : 0));
}

TEST_F(KernelCountsTest, OfDamagedFilesDoNotChangeOtherContexts) {
  Write({{.node = 0xffffffff, .interrupts = 1, .interrupt_ns = 1},
         {.node = kB, .interrupts = 2, .interrupt_ns = UINT64_MAX}});
  std::ofstream(directory_.path() / kKernelCountsFile, std::ios::app) << "half a record";
  Reader reader = Open();
  const CallTree tree = *reader.ReadTree();
  EXPECT_EQ(tree.interrupts, (std::vector<uint32_t>{0, 0, 2}));
  EXPECT_EQ(tree.metrics[1][1], tree.metrics[0][1]);
}

TEST_F(KernelCountsTest, OfAnEmptyFileAreNone) {
  Write({});
  Reader reader = Open();
  const CallTree tree = *reader.ReadTree();
  ASSERT_EQ(tree.metrics.size(), 2u);
  EXPECT_EQ(tree.metrics[1], tree.metrics[0]);
}

}  // namespace
}  // namespace jprof::profile
