// Relations of locks: one record each, a bound on their number, no space for more, and signal
// handlers that leave by a jump.
#include "jprof/setup/lock_edges.h"

#include <gtest/gtest.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>

#include <fstream>
#include <vector>

#include "tests/unit/profile/file_size_limit.h"
#include "tests/unit/temporary_directory.h"

namespace jprof::setup {
namespace {

using profile::LockEdge;
using profile::LockEdgeKind;

class LockEdgesTest : public testing::Test {
 protected:
  LockEdgesTest() {
    EXPECT_TRUE(writer_.Open({.directory = directory_.path().string(),
                              .directory_is_made = true,
                              .tree_memory = 1 << 20,
                              .locks = true}));
  }

  // The first records of the file.
  std::vector<LockEdge> Written(size_t count) const {
    std::vector<LockEdge> edges(count);
    std::ifstream file(directory_.path() / profile::kLocksFile, std::ios::binary);
    file.read(reinterpret_cast<char*>(edges.data()),
              static_cast<std::streamsize>(count * sizeof(LockEdge)));
    return edges;
  }

  TemporaryDirectory directory_{"lock-edges"};
  profile::Writer writer_;
};

TEST_F(LockEdgesTest, OfTheSameNodesAndObjectsAreAddedUp) {
  LockEdges edges(writer_);
  const LockEdge wait = {.kind = LockEdgeKind::kWait, .from = 1, .to = 2, .count = 1, .time_ns = 5};
  EXPECT_FALSE(edges.Add(wait));
  EXPECT_FALSE(edges.Add(wait));
  LockEdge other = wait;
  other.to_object = 7;
  edges.Add(other);
  EXPECT_EQ(writer_.header()->lock_edges, 2u);
  const auto written = Written(2);
  EXPECT_EQ(written[0].count, 2u);
  EXPECT_EQ(written[0].time_ns, 10);
  EXPECT_EQ(written[1].to_object, 7u);
  writer_.Close();
}

TEST_F(LockEdgesTest, OrdersOfTwoNodesHaveAtMostSoManyPairsOfObjects) {
  LockEdges edges(writer_);
  LockEdge order = {.kind = LockEdgeKind::kOrder, .from = 1, .to = 2, .count = 1};
  for (uint32_t object = 1; object < LockEdges::kMostObjects; ++object) {
    order.to_object = object;
    EXPECT_FALSE(edges.Add(order)) << object;
  }
  for (uint32_t object = 100; object < 103; ++object) {
    order.to_object = object;
    EXPECT_TRUE(edges.Add(order)) << object;
  }
  EXPECT_EQ(writer_.header()->lock_edges, LockEdges::kMostObjects);
  order.to_object = 1;
  EXPECT_TRUE(edges.Add(order));
  EXPECT_EQ(Written(1)[0].count, 2u);
  order.to = 3;
  EXPECT_FALSE(edges.Add(order));
  EXPECT_EQ(writer_.header()->lost_lock_edges, 0u);
  writer_.Close();
}

TEST_F(LockEdgesTest, WithoutSpaceAreCountedAsLost) {
  const profile::FileSizeLimit full(1 << 20);
  LockEdges edges(writer_);
  constexpr uint32_t kEvents = (2 << 20) / sizeof(LockEdge);
  for (uint32_t node = 1; node <= kEvents; ++node)
    edges.Add({.kind = LockEdgeKind::kOrder, .from = node, .to = node + 1, .count = 1});
  const auto& header = *writer_.header();
  EXPECT_GT(header.lost_lock_edges, 0u);
  EXPECT_EQ(header.lost_lock_edges + header.lock_edges, kEvents);
  // An edge that exists has space.
  const uint64_t lost = header.lost_lock_edges;
  edges.Add({.kind = LockEdgeKind::kOrder, .from = 1, .to = 2, .count = 1});
  EXPECT_EQ(header.lost_lock_edges, lost);
  writer_.Close();
}

sigjmp_buf jump_target;

TEST_F(LockEdgesTest, AreAddedAfterAHandlerHasLeftByAJump) {
  LockEdges edges(writer_);
  const auto leave = [](int) { siglongjmp(jump_target, 1); };
  auto* const before = signal(SIGALRM, leave);
  itimerval often = {{0, 50}, {0, 50}};
  volatile int jumps = 0;
  volatile uint32_t object = 0;
  if (sigsetjmp(jump_target, 1) != 0) jumps = jumps + 1;
  setitimer(ITIMER_REAL, &often, nullptr);
  while (jumps < 300) {
    object = object + 1;
    edges.Add({.kind = LockEdgeKind::kWait, .from = 1, .to = object % 50, .count = 1});
  }
  often = {};
  setitimer(ITIMER_REAL, &often, nullptr);
  signal(SIGALRM, before);
  EXPECT_GE(writer_.header()->lock_edges, 50u);
  writer_.Close();
}

}  // namespace
}  // namespace jprof::setup
