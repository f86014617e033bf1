#include "record/place/jvm_profiles.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "profile/files/layout.h"

namespace jprof::record {
namespace {

namespace fs = std::filesystem;

struct Made {
  uint64_t cpu_nanos = 0;
  uint32_t methods = 3;
  bool finished = true;
  int pid = 0;
};

class JvmProfilesTest : public testing::Test {
 protected:
  JvmProfilesTest() {
    std::string made = (fs::temp_directory_path() / "jprof-jvms-XXXXXX").string();
    place_ = fs::path(mkdtemp(made.data())) / "p";
    fs::create_directory(place_);
  }
  ~JvmProfilesTest() override { fs::remove_all(place_.parent_path()); }

  void Make(const char* name, const Made& made) const {
    const fs::path folder = place_ / name;
    fs::create_directory(folder);
    std::ofstream(folder / profile::kMetaFile)
        << R"({"format":1,"mode":"calltree","metrics":[],"pid":)" << made.pid
        << R"(,"command":["java","Main"]})";
    profile::ControlHeader header;
    std::memcpy(header.magic, profile::kMagic, sizeof header.magic);
    header.version = profile::kFormatVersion;
    header.thread_count = 1;
    header.method_count = made.methods + 1;
    header.finished = made.finished;
    profile::ThreadRecord thread;
    thread.cpu_ns_end = made.cpu_nanos;
    std::string control(profile::kControlHeaderBytes, '\0');
    std::memcpy(control.data(), &header, sizeof header);
    control.append(reinterpret_cast<const char*>(&thread), sizeof thread);
    std::ofstream(folder / profile::kControlFile, std::ios::binary) << control;
    for (const char* file : {profile::kNodesFile, profile::kMethodsFile})
      std::ofstream(folder / file) << "";
  }
  std::vector<std::string> Names(const std::vector<JvmProfile>& profiles) const {
    std::vector<std::string> names;
    for (const JvmProfile& profile : profiles)
      names.push_back(profile.path.lexically_relative(place_).string());
    return names;
  }

  fs::path place_;
};

using Words = std::vector<std::string>;

TEST_F(JvmProfilesTest, TheBusiestIsFirst) {
  Make("Main-1", {.cpu_nanos = 5});
  Make("Main-2", {.cpu_nanos = 900});
  Make("Main-3", {.cpu_nanos = 50});
  EXPECT_EQ(Names(JvmProfilesAt(place_)), (Words{"Main-2", "Main-3", "Main-1"}));
  EXPECT_EQ(Names(SettleProfiles(place_).profiles), (Words{"Main-2", "Main-3", "Main-1"}));
}

TEST_F(JvmProfilesTest, TheOnlyOneGetsTheRequestedName) {
  Make("Main-1", {});
  EXPECT_EQ(Names(SettleProfiles(place_).profiles), Words{"."});
  EXPECT_TRUE(fs::exists(place_ / profile::kControlFile));
  EXPECT_EQ(Names(SettleProfiles(place_).profiles), Words{"."}) << "again";
}

TEST_F(JvmProfilesTest, OneThatCannotBeReadIsNamedAndKept) {
  Make("Main-1", {});
  Make("Main-2", {});
  fs::resize_file(place_ / "Main-2" / profile::kControlFile, 8);
  const auto settled = SettleProfiles(place_);
  EXPECT_EQ(settled.profiles.size(), 2u);
  ASSERT_EQ(settled.notes.size(), 1u);
  EXPECT_TRUE(settled.notes[0].contains("Main-2")) << settled.notes[0];
  EXPECT_TRUE(fs::exists(place_ / "Main-2" / profile::kControlFile));
}

TEST_F(JvmProfilesTest, OneWithoutMethodsIsLeftOutBesideOthers) {
  Make("Main-1", {});
  Make("Main-2", {.cpu_nanos = 900, .methods = 0, .pid = 1234567});
  const auto settled = SettleProfiles(place_);
  EXPECT_EQ(Names(settled.profiles), Words{"."});
  EXPECT_EQ(settled.notes, Words{"Main (PID 1234567) is left out: no method of it was recorded"});
}

TEST_F(JvmProfilesTest, WithoutAnyMethodAllAreKept) {
  Make("Main-1", {.methods = 0});
  Make("Main-2", {.methods = 0});
  EXPECT_EQ(SettleProfiles(place_).profiles.size(), 2u);
}

TEST_F(JvmProfilesTest, OneThatStillRunsIsNotMoved) {
  Make("Main-1", {.finished = false, .pid = getpid()});
  const auto settled = SettleProfiles(place_);
  EXPECT_EQ(Names(settled.profiles), Words{"Main-1"});
  EXPECT_TRUE(StillRunsText(settled.profiles.at(0)).contains(" still runs: its profile "));
  Make("Main-1", {.finished = false, .pid = 0});
  EXPECT_EQ(Names(SettleProfiles(place_).profiles), Words{"."}) << "it was killed";
}

TEST_F(JvmProfilesTest, WhileOneHasNotBegunTheOnlyOneIsNotMoved) {
  Make("Main-1", {});
  const auto settled = SettleProfiles(place_, {static_cast<uint32_t>(getpid())});
  EXPECT_EQ(Names(settled.profiles), Words{"Main-1"});
  ASSERT_EQ(settled.notes.size(), 1u);
  EXPECT_TRUE(settled.notes[0].contains(fmt::format("(PID {}) still runs", getpid())));
}

TEST_F(JvmProfilesTest, NothingElseIsMovedOrRemoved) {
  Make("Main-1", {});
  std::ofstream(place_ / "notes.txt") << "x";
  EXPECT_EQ(Names(SettleProfiles(place_).profiles), Words{"Main-1"});
  EXPECT_TRUE(fs::exists(place_ / "notes.txt"));
  EXPECT_TRUE(fs::exists(place_ / "Main-1" / profile::kControlFile));
}

}  // namespace
}  // namespace jprof::record
