#include "record/place/place_claim.h"

#include <gtest/gtest.h>

#include <fstream>

#include "record/place/profile_place.h"
#include "tests/unit/temporary_directory.h"

namespace jprof::record {
namespace {

namespace fs = std::filesystem;

TEST(PlaceClaim, OnlyOneRecordsToAPlace) {
  const TemporaryDirectory directory("claim");
  const fs::path place = directory.path() / "app.jprof";
  EXPECT_TRUE(CheckUnclaimed(place));
  {
    const auto first = PlaceClaim::Take(place);
    ASSERT_TRUE(first) << first.error().message;
    EXPECT_TRUE(fs::is_directory(first->folder()));
    for (const fs::path& same : {place, directory.path() / "." / "app.jprof" / ""}) {
      EXPECT_FALSE(CheckUnclaimed(same)) << same;
      const auto prepared = PrepareUnclaimed(same, /*force=*/true);
      ASSERT_FALSE(prepared);
      EXPECT_EQ(prepared.error().kind, Error::Kind::kWrongUse);
    }
    EXPECT_FALSE(PlaceClaim::Take(place));
    EXPECT_TRUE(PlaceClaim::Take(directory.path() / "other.jprof"));
  }
  EXPECT_TRUE(fs::is_empty(directory.path()));
  EXPECT_TRUE(PlaceClaim::Take(place));
}

TEST(PlaceClaim, TheFolderOfAKilledRecordingIsEmptiedAndAForeignOneIsNot) {
  const TemporaryDirectory directory("claim");
  const fs::path left = directory.path() / "app.jprof.unfinished";
  fs::create_directories(left / "specifications");
  for (const char* name : {"metadata", "processor-0-0", ".unfinished", "specifications/kernel.xml"})
    std::ofstream(left / name) << "x";
  {
    const auto claim = PlaceClaim::Take(directory.path() / "app.jprof");
    ASSERT_TRUE(claim) << claim.error().message;
    EXPECT_TRUE(fs::is_empty(left));
  }
  fs::create_directories(left);
  std::ofstream(left / "mine") << "x";
  const auto claim = PlaceClaim::Take(directory.path() / "app.jprof");
  ASSERT_FALSE(claim);
  EXPECT_NE(claim.error().message.find("contains mine"), std::string::npos);
  EXPECT_TRUE(fs::exists(left / "mine"));
}

TEST(PlaceClaim, AFolderThatWasMovedStays) {
  const TemporaryDirectory directory("claim");
  {
    auto claim = PlaceClaim::Take(directory.path() / "app.jprof");
    ASSERT_TRUE(claim) << claim.error().message;
    EXPECT_FALSE(claim->MoveTo(directory.path() / "moved"));
  }
  EXPECT_TRUE(fs::is_directory(directory.path() / "moved"));
}

}  // namespace
}  // namespace jprof::record
