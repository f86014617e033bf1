#include "calibrate/store/table_store.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace jprof::calibrate {
namespace {

namespace fs = std::filesystem;

// Every test has a data directory of its own.
class TableStore : public testing::Test {
 protected:
  void SetUp() override {
    std::string made = (fs::temp_directory_path() / "table_store_XXXXXX").string();
    ASSERT_NE(mkdtemp(made.data()), nullptr);
    home_ = made;
    setenv("XDG_DATA_HOME", home_.c_str(), 1);
  }
  void TearDown() override {
    unsetenv("XDG_DATA_HOME");
    fs::remove_all(home_);
  }
  Table Sample(const std::string& jvm) {
    return {.fingerprint = {{"cpu", "A/B (R)"}, {"jvm", jvm}, {"metrics", "time"}},
            .made_at = "now"};
  }
  fs::path home_;
};

TEST_F(TableStore, FollowsTheXdgRules) {
  EXPECT_EQ(DataDirectory(), home_ / "jprof" / "calibration");
  unsetenv("XDG_DATA_HOME");
  setenv("HOME", "/somewhere", 1);
  EXPECT_EQ(DataDirectory(), "/somewhere/.local/share/jprof/calibration");
}

TEST_F(TableStore, FindsWhatItSaved) {
  const auto path = SaveTable(Sample("17.0.1+12"));
  ASSERT_TRUE(path) << path.error().message;
  EXPECT_EQ(path->parent_path(), DataDirectory());
  EXPECT_NE(path->filename().string().find("17.0.1+12"), std::string::npos);
  ASSERT_TRUE(SaveTable(Sample("25")));
  const auto found = FindTable(Sample("17.0.1+12").fingerprint);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->path, *path);
  EXPECT_EQ(found->table.fingerprint, Sample("17.0.1+12").fingerprint);
}

TEST_F(TableStore, LeavesNoTemporary) {
  ASSERT_TRUE(SaveTable(Sample("17")));
  EXPECT_EQ(std::distance(fs::directory_iterator(DataDirectory()), fs::directory_iterator()), 1);
}

TEST_F(TableStore, ListsTables) {
  EXPECT_TRUE(StoredTables().empty());
  const auto b = SaveTable(Sample("25")), a = SaveTable(Sample("17"));
  std::ofstream(DataDirectory() / "0.machine") << "{}";
  EXPECT_EQ(StoredTables(), (std::vector<fs::path>{*a, *b}));
}

TEST_F(TableStore, SaysToCalibrateWhenThereIsNone) {
  const auto found = FindTable(Sample("17").fingerprint);
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().message.find("run jprof calibrate"), std::string::npos);
}

TEST_F(TableStore, SaysHowTheNearestTableDiffers) {
  ASSERT_TRUE(SaveTable(Sample("17")));
  const auto found = FindTable(Sample("25").fingerprint);
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().message.find("jvm: table has 17, profile has 25"), std::string::npos)
      << found.error().message;
}

TEST_F(TableStore, NamesADamagedFile) {
  const auto path = SaveTable(Sample("17"));
  ASSERT_TRUE(path);
  std::ofstream(*path) << "{";
  const auto found = FindTable(Sample("17").fingerprint);
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().message.find(path->string()), std::string::npos);
  EXPECT_NE(found.error().message.find("damaged"), std::string::npos);
}

TEST_F(TableStore, AFailedSaveLeavesTheOldTable) {
  const auto path = SaveTable(Sample("17"));
  ASSERT_TRUE(path);
  // The temporary's name is taken by a directory: it cannot be opened.
  fs::create_directory(path->string() + fmt::format(".{}.tmp", getpid()));
  EXPECT_FALSE(SaveTable(Sample("17")));
  EXPECT_TRUE(FindTable(Sample("17").fingerprint));
}

TEST_F(TableStore, HashTellsPartsApart) {
  EXPECT_NE(Hash({{"a", "bc"}}), Hash({{"ab", "c"}}));
  EXPECT_NE(Hash({{"a", "b"}}), Hash({{"a", "c"}}));
  EXPECT_EQ(Hash({{"a", "b"}, {"c", "d"}}), Hash({{"c", "d"}, {"a", "b"}}));
}

}  // namespace
}  // namespace jprof::calibrate
