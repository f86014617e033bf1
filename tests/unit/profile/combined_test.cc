#include "profile/read/combined.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "profile/files/whole_file.h"

namespace jprof::profile {
namespace {

namespace fs = std::filesystem;

CombinedMeta FullRuns() {
  return {
      .jprof = "1.2.3",
      .start = "2026-01-02T03:04:05Z",
      .from = "profile",
      .command = {"java", "Demo", "two words"},
      .notes = {"counted: the program was still running"},
      .runs = {{.role = Run::Role::kSampled,
                .profile = "sampled-1",
                .wall_seconds = 1.25,
                .cpu_seconds = 2.5,
                .exit_status = 143},
               {.role = Run::Role::kSampled,
                .profile = "sampled-2",
                .wall_seconds = 0,
                .exit_status = 0,
                .output = Run::Output::kDiffers},
               {.role = Run::Role::kCounted,
                .profile = "counted",
                .cpu_seconds = 3,
                .output = Run::Output::kEqual},
               {.role = Run::Role::kSampled, .profile = "sampled-3", .output_note = "a terminal"}},
      .usual = {.total = {0.125, 7}, .share = {0.25, 3.5}, .own_share = {0.5, 2}, .profiles = 9}};
}

CombinedMeta ParsedRuns(std::string_view text, std::string* damage = nullptr) {
  Damages damages;
  CombinedMeta meta = ParseCombined(text, damages);
  if (damage != nullptr) *damage = damages.empty() ? "" : damages.Lines().front();
  return meta;
}

// A combined profile whose only run has this profile, as JSON.
std::string WithProfile(const std::string& name) {
  return R"({"format":1,"runs":[{"role":"counted","profile":)" + name + "}]}";
}

TEST(CombinedTest, ComesBackAsItWasWritten) {
  std::string damage;
  EXPECT_EQ(ParsedRuns(ToJson(FullRuns()), &damage), FullRuns());
  EXPECT_EQ(damage, "");
}

TEST(CombinedTest, AnEmptyOneComesBackEmpty) {
  EXPECT_EQ(ParsedRuns(ToJson(CombinedMeta{})), CombinedMeta{});
}

TEST(CombinedTest, FieldsOfAnotherTypeKeepTheirDefaults) {
  std::string damage;
  const CombinedMeta meta = ParsedRuns(
      R"({"format":1,"jprof":1,"start":[],"from":{},"command":"java","notes":[7],
          "runs":[{"role":"sampled","profile":"a","wall_seconds":"1","cpu_seconds":-1,
                   "exit_status":256,"output":"perhaps","output_note":[]}]})",
      &damage);
  CombinedMeta expected;
  expected.notes = {""};
  expected.runs = {{.role = Run::Role::kSampled, .profile = "a"}};
  EXPECT_EQ(meta, expected);
  EXPECT_EQ(damage, "");
  EXPECT_EQ(ParsedRuns(R"({"format":1,"runs":{"role":"counted"}})", &damage), CombinedMeta{});
}

// No interval can be made of such spreads.
TEST(CombinedTest, AnUnusableSpreadKeepsItsDefault) {
  for (const char* spread :
       {R"({"relative":0.05,"freedom":0.001})", R"({"relative":-1,"freedom":3})",
        R"({"relative":0,"freedom":3})", R"({"relative":1e300,"freedom":3})",
        R"({"relative":0.1,"freedom":1e300})", R"({"relative":0.1})", R"([0.1,3])", "7"}) {
    std::string damage;
    const CombinedMeta meta =
        ParsedRuns(std::string(R"({"format":1,"usual_spread":{"total":)") + spread + "}}", &damage);
    EXPECT_EQ(meta.usual, RunSpreads()) << spread;
  }
}

TEST(CombinedTest, WhatIsNotAnObjectIsADamage) {
  std::string damage;
  for (const char* text : {"", "7", "[]", "{\"runs\":", "{}}", "{\"start\":1e999}"}) {
    EXPECT_EQ(ParsedRuns(text, &damage), CombinedMeta{}) << text;
    EXPECT_EQ(damage, "not a JSON object") << text;
  }
}

TEST(CombinedTest, AnotherVersionIsADamage) {
  std::string damage;
  (void)ParsedRuns(R"({"format":2,"runs":[]})", &damage);
  EXPECT_EQ(damage, "written in format 2, this jprof reads format 1");
}

TEST(CombinedTest, AProfileOutsideOfTheDirectoryIsRefused) {
  std::string damage;
  for (const char* name :
       {R"("../x")", R"("/etc")", R"("..")", R"(".")", R"("")", R"("a/../../x")", R"("a/..")",
        R"("a/b/c")", R"("a/")", R"("/a")", R"("a\u0000b")", "7", "null"}) {
    EXPECT_TRUE(ParsedRuns(WithProfile(name), &damage).runs.empty()) << name;
    EXPECT_TRUE(damage.starts_with("the profile of a run is not the name of a directory inside"))
        << name << ": " << damage;
  }
  EXPECT_EQ(ParsedRuns(WithProfile(R"("..a")"), &damage).runs.size(), 1u);
  EXPECT_EQ(damage, "");
}

TEST(CombinedTest, ARunWithoutAKnownRoleIsRefused) {
  std::string damage;
  for (const char* run :
       {"7", "null", R"({"profile":"a"})", R"({"role":"traced","profile":"a"})"}) {
    EXPECT_TRUE(
        ParsedRuns(std::string(R"({"format":1,"runs":[)") + run + "]}", &damage).runs.empty());
    EXPECT_TRUE(damage.starts_with("a run is neither counted nor sampled")) << damage;
  }
}

TEST(CombinedTest, TextsAreFitToPrint) {
  CombinedMeta meta = FullRuns();
  meta.command = {"a\x1b[31mb", "\xff"};
  meta.runs[0].output_note = "a\nb";
  const CombinedMeta read = ParsedRuns(ToJson(meta));
  EXPECT_EQ(read.command, (std::vector<std::string>{"a?[31mb", "\xef\xbf\xbd"}));
  EXPECT_EQ(read.runs[0].output_note, "a?b");
}

class CombinedFile : public testing::Test {
 protected:
  void SetUp() override { fs::create_directory(directory_); }
  void TearDown() override { fs::remove_all(directory_); }
  void Write(const std::string& text) { ASSERT_TRUE(WriteWholeFile(directory_ / kRunsFile, text)); }
  std::string ErrorOf(const std::string& text) {
    Write(text);
    const auto read = ReadCombined(directory_);
    return read ? "" : read.error().message;
  }

  const fs::path directory_ =
      fs::temp_directory_path() / ("jprof-combined-" + std::to_string(getpid()));
};

TEST_F(CombinedFile, IsRead) {
  EXPECT_FALSE(IsCombined(directory_));
  Write(ToJson(FullRuns()));
  EXPECT_TRUE(IsCombined(directory_));
  const auto read = ReadCombined(directory_);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, FullRuns());
}

TEST_F(CombinedFile, AnErrorNamesTheFile) {
  const std::string file = (directory_ / kRunsFile).string();
  for (const std::string& text :
       {std::string(), std::string("{"), WithProfile(R"("../x")"), std::string(2 << 20, '\0'),
        std::string(R"({"format":1,"runs":[]})")}) {
    EXPECT_TRUE(ErrorOf(text).starts_with(file + ": damaged: ")) << ErrorOf(text);
  }
  EXPECT_NE(ErrorOf(WithProfile(R"("../x")")).find("../x"), std::string::npos);
}

TEST_F(CombinedFile, WhatIsNoCombinedProfileIsWrongUse) {
  const auto missing = ReadCombined(directory_ / "missing");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, Error::Kind::kWrongUse);
  const auto other = ReadCombined(directory_);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().kind, Error::Kind::kWrongUse);
  fs::create_directory(directory_ / kRunsFile);
  EXPECT_FALSE(IsCombined(directory_));
  EXPECT_FALSE(ReadCombined(directory_));
}

}  // namespace
}  // namespace jprof::profile
