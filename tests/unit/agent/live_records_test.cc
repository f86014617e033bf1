// Snapshots of live objects in the files, when the disk becomes full.
#include "jprof/agent/objects/live_records.h"

#include <gtest/gtest.h>

#include "tests/unit/profile/file_size_limit.h"
#include "tests/unit/temporary_directory.h"

namespace jprof::agent {
namespace {

class LiveRecordsTest : public testing::Test {
 protected:
  LiveRecordsTest() : directory_("live-records"), records_(writer_) {
    const auto opened =
        writer_.Open({.directory = directory_.path() / "p", .metric_count = 4, .live = true});
    EXPECT_TRUE(opened) << opened.error().message;
    node_ = writer_.AllocateNodes(1);
  }

  void TakeSnapshot(double objects) {
    std::vector<LiveSum> sums(node_ + 1);
    sums[node_] = {objects, 24 * objects};
    records_.Begin(1000);
    records_.Add(node_, sums[node_]);
    records_.End(sums);
  }
  int64_t LiveBytes() const { return writer_.extra()[node_ * 3 + 1]; }

  TemporaryDirectory directory_;
  profile::Writer writer_;
  LiveRecords records_;
  uint32_t node_ = 0;
};

TEST_F(LiveRecordsTest, EachSnapshotHasItsNumber) {
  TakeSnapshot(3);
  TakeSnapshot(4);
  EXPECT_EQ(writer_.header()->live_snapshots, 2u);
  EXPECT_EQ(LiveBytes(), 96);
}

TEST_F(LiveRecordsTest, WithoutSpaceTheSnapshotsBeforeRemain) {
  TakeSnapshot(3);
  {
    const profile::FileSizeLimit full(0);
    records_.Begin(2000);
    LiveObject object;
    do {
      object = {.node = node_, .bytes = 24};
      records_.Add(object);
    } while (object.record != nullptr);
    records_.End({{}, {5, 120}});
    EXPECT_EQ(writer_.header()->live_snapshots, 1u) << "its records are not complete";
    TakeSnapshot(6);
  }
  TakeSnapshot(7);
  EXPECT_EQ(writer_.header()->live_snapshots, 1u) << "one before it is missing";
  EXPECT_EQ(LiveBytes(), 72);
}

}  // namespace
}  // namespace jprof::agent
