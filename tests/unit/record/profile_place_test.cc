#include "record/place/profile_place.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>

#include "profile/files/file_list.h"

namespace jprof::record {
namespace {

namespace fs = std::filesystem;

class ProfilePlaceTest : public testing::Test {
 protected:
  ProfilePlaceTest() : before_(fs::current_path()) {
    std::string made = (fs::temp_directory_path() / "jprof-place-XXXXXX").string();
    folder_ = mkdtemp(made.data());
    fs::current_path(folder_);
  }
  ~ProfilePlaceTest() override {
    fs::current_path(before_);
    fs::remove_all(folder_);
  }

  static void MakeProfile(const fs::path& place) {
    fs::create_directory(place);
    std::ofstream(place / profile::kControlFile, std::ios::binary)
        .write(profile::kMagic, sizeof profile::kMagic);
    std::ofstream(place / profile::kMetaFile) << "{}";
  }
  static void ExpectRefused(const char* place, bool force, const char* words) {
    const auto prepared = PreparePlace(place, force);
    ASSERT_FALSE(prepared);
    EXPECT_EQ(prepared.error().kind, Error::Kind::kWrongUse);
    EXPECT_NE(prepared.error().message.find(words), std::string::npos) << prepared.error().message;
    EXPECT_TRUE(fs::exists(fs::symlink_status(place)));
  }

  fs::path before_, folder_;
};

TEST_F(ProfilePlaceTest, AFreeNameIsNumberedFromTwo) {
  EXPECT_EQ(FreePlace("app"), "app.jprof");
  fs::create_directory("app.jprof");
  fs::create_symlink("nowhere", "app-2.jprof");
  EXPECT_EQ(FreePlace("app"), "app-3.jprof");
}

TEST_F(ProfilePlaceTest, APlaceIsPreparedAndNotCreated) {
  fs::create_directory("empty");
  for (const char* place : {"new", "new/", "./new", "empty"}) {
    const auto prepared = PreparePlace(place, false);
    ASSERT_TRUE(prepared) << prepared.error().message;
    EXPECT_EQ(*prepared, folder_ / (std::string(place) == "empty" ? "empty" : "new"));
    EXPECT_FALSE(fs::exists(*prepared));
  }
}

TEST_F(ProfilePlaceTest, AProfileIsReplacedByForceOnly) {
  MakeProfile("old");
  ExpectRefused("old", false, "is already a profile");
  ASSERT_TRUE(PreparePlace("old", true));
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(ProfilePlaceTest, TheUsersFilesAreKept) {
  fs::create_directory("other");
  std::ofstream("other/file") << "x";
  ExpectRefused("other", true, "is not a profile");
  MakeProfile("mixed");
  std::ofstream("mixed/notes.txt") << "x";
  ExpectRefused("mixed", true, "contains notes.txt");
  MakeProfile("real");
  fs::create_directory_symlink("real", "link");
  ExpectRefused("link", true, "is a symbolic link");
  EXPECT_TRUE(IsProfile("real"));
}

TEST_F(ProfilePlaceTest, ACombinedProfileIsReplacedByForceOnly) {
  for (const bool complete : {true, false}) {  // without runs.json it was interrupted
    fs::create_directory("both");
    if (complete) std::ofstream("both/runs.json") << "{}";
    fs::create_directory("both/sampled-2");  // of several JVMs
    for (const char* run :
         {"both/sampled-1", "both/sampled-2/Main-7", "both/sampled-2/sh-8", "both/counted"})
      MakeProfile(run);
    ExpectRefused("both", false, "is already a profile");
    ASSERT_TRUE(PreparePlace("both", true));
    EXPECT_TRUE(fs::is_empty(folder_));
  }
}

TEST_F(ProfilePlaceTest, TheUsersFilesInACombinedProfileAreKept) {
  MakeProfile("elsewhere");
  const auto refused = [&](const fs::path& name, const char* words) {
    ExpectRefused("both", true, words);
    EXPECT_TRUE(IsProfile("both/counted"));
    fs::remove_all(fs::path("both") / name);
  };
  fs::create_directory("both");
  MakeProfile("both/counted");
  for (const char* name : {"sampled-", "sampled-1.7", "counted-", "counted-x", "other"}) {
    MakeProfile(fs::path("both") / name);
    refused(name, name);
  }
  fs::create_directory_symlink("../elsewhere", "both/sampled-1");
  refused("sampled-1", "is a symbolic link");
  EXPECT_TRUE(IsProfile("elsewhere"));
  std::ofstream("both/counted/notes.txt") << "x";
  refused("counted/notes.txt", "contains notes.txt");
  fs::create_directory("both/runs.json");
  refused("runs.json", "contains runs.json");
  ASSERT_TRUE(PreparePlace("both", true));
}

TEST_F(ProfilePlaceTest, AParentThatIsMissingIsWrongUse) {
  EXPECT_FALSE(PreparePlace("no/such/place", false));
}

TEST_F(ProfilePlaceTest, ProfilesOfSeveralJvmsAreFoundInTheirDirectory) {
  fs::create_directory("p");
  EXPECT_FALSE(IsSeveral("p"));
  for (const char* place : {"p/Main-12", "p/sh-7-2", "p/Main", "p/-7", "p/Main-7b"})
    MakeProfile(place);
  fs::create_directory("p/Empty-9");
  EXPECT_EQ(ProfilesAt("p"), (std::vector<fs::path>{"p/Main-12", "p/sh-7-2"}));
  EXPECT_TRUE(IsSeveral("p"));
  EXPECT_FALSE(IsSeveral("p/Main-12"));
  EXPECT_EQ(ProfilesAt("p/Main-12"), std::vector<fs::path>{"p/Main-12"});
  EXPECT_EQ(ProfilesAt("none"), std::vector<fs::path>());
}

TEST_F(ProfilePlaceTest, SeveralProfilesAreReplacedByForceOnly) {
  fs::create_directory("p");
  for (const char* place : {"p/Main-12", "p/sh-7"}) MakeProfile(place);
  fs::create_directory("p/Empty-9");  // of a JVM that was killed at its start
  ExpectRefused("p", false, "is already a profile");
  std::ofstream("p/Main-12/notes.txt") << "x";
  ExpectRefused("p", true, "contains notes.txt");
  fs::remove("p/Main-12/notes.txt");
  for (const char* name : {"p/src", "p/runs.json"}) {
    fs::create_directory(name);
    ExpectRefused("p", true, name + 2);
    fs::remove(name);
  }
  EXPECT_TRUE(IsProfile("p/sh-7"));
  ASSERT_TRUE(PreparePlace("p", true));
  EXPECT_TRUE(fs::is_empty(folder_));
}

}  // namespace
}  // namespace jprof::record
