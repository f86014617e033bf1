#include "record/place/place_watch.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>

#include "profile/files/unused_directory.h"
#include "tests/unit/temporary_directory.h"

namespace jprof::record {
namespace {

namespace fs = std::filesystem;

// The directory that contains the profile's is inside `root_`.
class PlaceWatchTest : public testing::Test {
 protected:
  static fs::path MakeParent(const fs::path& root) {
    fs::create_directory(root / "parent");
    return root / "parent";
  }

  const TemporaryDirectory made_{"place"};
  const fs::path root_ = made_.path();
  const fs::path parent_ = MakeParent(root_), place_ = parent_ / "a.jprof";
  PlaceWatch watch_{place_};
};

TEST_F(PlaceWatchTest, AProfileThatStaysIsNotGone) {
  EXPECT_FALSE(watch_.Gone());
  fs::create_directory(place_);
  fs::create_directory(place_ / "inside");
  fs::remove(place_ / "inside");
  fs::create_directory(parent_ / "b.jprof");
  fs::remove(parent_ / "b.jprof");
  EXPECT_FALSE(watch_.Gone());
}

TEST_F(PlaceWatchTest, ARemovedProfileIsGoneAlsoIfThereIsANewOne) {
  fs::create_directory(place_);
  fs::remove(place_);
  watch_.Look();
  fs::create_directory(place_);
  EXPECT_TRUE(watch_.Gone());
}

TEST_F(PlaceWatchTest, ARenamedProfileIsGone) {
  fs::create_directory(place_);
  fs::rename(place_, parent_ / "b.jprof");
  EXPECT_TRUE(watch_.Gone());
}

TEST_F(PlaceWatchTest, AProfileWhoseParentIsRenamedIsGone) {
  fs::create_directory(place_);
  fs::rename(parent_, root_ / "other");
  EXPECT_TRUE(watch_.Gone());
  fs::create_directories(place_);
  EXPECT_TRUE(watch_.Gone());
}

TEST_F(PlaceWatchTest, AParentThatCannotBeOpenedIsNotGone) {
  fs::create_directory(place_);
  rlimit usual;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &usual), 0);
  const rlimit none = {.rlim_cur = 0, .rlim_max = usual.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const bool gone = watch_.Gone();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &usual), 0);
  EXPECT_FALSE(gone);
}

TEST_F(PlaceWatchTest, ADirectoryInWhichNothingBeganIsNotGone) {
  fs::create_directory(place_);
  profile::RemoveUnused(place_.c_str());
  EXPECT_FALSE(fs::exists(place_));
  EXPECT_TRUE(fs::is_empty(parent_));
  EXPECT_FALSE(watch_.Gone());
  fs::create_directory(place_);
  fs::remove(place_);
  EXPECT_TRUE(watch_.Gone());
}

TEST_F(PlaceWatchTest, OnlyAnEmptyDirectoryIsRemovedAsUnused) {
  fs::create_directories(place_ / "inside");
  profile::RemoveUnused(place_.c_str());
  EXPECT_TRUE(fs::exists(place_ / "inside"));
}

}  // namespace
}  // namespace jprof::record
