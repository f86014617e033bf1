// Relations of locks: one record each, and a bound on their number.
#include "jprof/setup/lock_edges.h"

#include <gtest/gtest.h>

#include <fstream>
#include <vector>

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
  order.to_object = 100;
  EXPECT_TRUE(edges.Add(order));
  writer_.Close();
}

}  // namespace
}  // namespace jprof::setup
