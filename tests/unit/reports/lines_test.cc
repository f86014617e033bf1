// The source lines of methods: sums by line, the report, and the search for sources.
#include <gtest/gtest.h>
#include <unistd.h>
#include <zip.h>

#include <filesystem>
#include <fstream>

#include "model/lines/line_sums.h"
#include "model/tree/site_place.h"
#include "reports/lines/lines_report.h"
#include "reports/lines/source_files.h"
#include "tests/unit/reports/lines_profile.h"

namespace jprof::reports {
namespace {

namespace fs = std::filesystem;
using profile::SyntheticProfile;

class LinesTest : public testing::Test {
 protected:
  LinesTest() : directory_(fs::path(testing::TempDir()) / ("lines-" + std::to_string(getpid()))) {
    fs::remove_all(directory_);
    fs::create_directories(directory_);
  }
  ~LinesTest() override { fs::remove_all(directory_); }

  model::Input Open(SyntheticProfile& profile) {
    const std::string path = (directory_ / "p.jprof").string();
    profile.Write(path);
    auto input = model::Open(path, model::InputKind::kProfile, {});
    EXPECT_TRUE(input) << (input ? "" : input.error().message);
    return *std::move(input);
  }

  const fs::path directory_;
};

TEST_F(LinesTest, CallsAreSummedUpByPlace) {
  SyntheticProfile profile = profile::CountedLines();
  model::Input input = Open(profile);
  auto& source = std::get<model::Source>(input);
  auto forest = model::LoadForest(source, {.merged = true, .call_sites = true});
  ASSERT_TRUE(forest);
  model::LineSums sums;
  sums.Add(*forest, true, true);
  const std::vector<model::MethodLines> methods = sums.Take();
  ASSERT_EQ(methods.size(), 2u);
  const model::MethodLines& run = methods[1].name.contains("run") ? methods[1] : methods[0];
  EXPECT_EQ(run.calls, 2u);
  EXPECT_EQ(run.file, "Main.java");
  ASSERT_EQ(run.lines.size(), 3u);
  EXPECT_EQ(run.lines[0].line, 10u);
  EXPECT_EQ(run.lines[0].calls, 6u);
  ASSERT_EQ(run.lines[0].called.size(), 2u);
  EXPECT_EQ(run.lines[0].called[0].bytecode, 3u);
  EXPECT_EQ(run.lines[0].called[0].calls, 4u);
  EXPECT_EQ(run.lines[0].called[1].calls, 2u);
  EXPECT_EQ(run.lines[1].calls, 2u);
  EXPECT_EQ(run.lines[2].line, 14u);
  EXPECT_EQ(run.lines[2].calls, 1u);
}

TEST_F(LinesTest, SamplesBelowALineAreCountedOnce) {
  SyntheticProfile profile = profile::SampledLines();
  model::Input input = Open(profile);
  auto forest =
      model::LoadForest(std::get<model::Source>(input), {.merged = true, .call_sites = true});
  ASSERT_TRUE(forest);
  model::LineSums sums;
  sums.Add(*forest, false, true);
  EXPECT_EQ(sums.whole(), 14);
  const std::vector<model::MethodLines> methods = sums.Take();
  ASSERT_EQ(methods.size(), 2u);
  EXPECT_EQ(methods[0].own, 11);
  EXPECT_EQ(methods[0].all, 14);
  ASSERT_EQ(methods[0].lines.size(), 2u);
  EXPECT_EQ(methods[0].lines[0].own, 7);
  EXPECT_EQ(methods[0].lines[0].all, 10);  // 5 and 3, and 2 below line 14
  EXPECT_EQ(methods[0].lines[1].own, 4);
  EXPECT_EQ(methods[0].lines[1].all, 6);  // 4 and 2: those inside are not counted again
}

TEST_F(LinesTest, TextShowsTheSource) {
  fs::create_directories(directory_ / "src/app");
  {
    std::ofstream file(directory_ / "src/app/Main.java");
    for (int line = 1; line < 20; ++line) file << "    // the line " << line << "\n";
  }
  SyntheticProfile profile = profile::CountedLines();
  model::Input input = Open(profile);
  const auto text = PrintedText([&](Output& out) {
    return PrintLines(
        input, {.all = true, .method = "Main.run", .source_path = {directory_ / "src"}}, out);
  });
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_TRUE(text->contains("10         6   // the line 10")) << *text;
  EXPECT_TRUE(text->contains("4   -> I:app.Main.leaf()")) << *text;
  const auto missing =
      PrintedText([&](Output& out) { return PrintLines(input, {.method = "Main.walk"}, out); });
  ASSERT_FALSE(missing);
  EXPECT_TRUE(missing.error().message.contains("contains 'Main.walk'"));
}

TEST_F(LinesTest, WithoutSitesTheErrorSaysHowToRecordThem) {
  SyntheticProfile profile = profile::CountedLines();
  profile.meta = R"({"mode":"calltree","metrics":[]})";
  model::Input input = Open(profile);
  const auto printed = PrintedText([&](Output& out) { return PrintLines(input, {}, out); });
  ASSERT_FALSE(printed);
  EXPECT_TRUE(printed.error().message.contains("--call-sites")) << printed.error().message;
}

TEST_F(LinesTest, SourcesAreFoundInFoldersAndArchives) {
  fs::create_directories(directory_ / "src/app");
  std::ofstream(directory_ / "src/app/A.java") << "one\n  two  \n";
  const std::string archive = (directory_ / "src.zip").string();
  const zipFile zip = zipOpen64(archive.c_str(), APPEND_STATUS_CREATE);
  for (const auto& [name, text] :
       {std::pair("app/B.java", "alpha\nbeta\n"), std::pair("java.base/app/C.java", "x\ny\n")}) {
    ASSERT_EQ(zipOpenNewFileInZip(zip, name, nullptr, nullptr, 0, nullptr, 0, nullptr, Z_DEFLATED,
                                  Z_DEFAULT_COMPRESSION),
              ZIP_OK);
    zipWriteInFileInZip(zip, text, static_cast<unsigned>(std::strlen(text)));
    zipCloseFileInZip(zip);
  }
  ASSERT_EQ(zipClose(zip, nullptr), ZIP_OK);
  std::ofstream(directory_ / "broken.jar") << "PK no archive";
  SourceFiles sources({(directory_ / "none").string(), (directory_ / "broken.jar").string(),
                       (directory_ / "src").string(), archive});
  EXPECT_EQ(sources.Line("app/A", "A.java", 2), "two");
  EXPECT_EQ(sources.Line("app/B$Inner", "B.java", 1), "alpha");
  EXPECT_EQ(sources.Line("app/C", "C.java", 2), "y");
  EXPECT_EQ(sources.Line("app/A", "A.java", 9), "");
  EXPECT_EQ(sources.Line("app/D", "D.java", 1), "");
  EXPECT_EQ(sources.Line("app/../../A", "A.java", 1), "");
  EXPECT_EQ(sources.Line("app/A", "/etc/passwd", 1), "");
  EXPECT_FALSE(ParseSourcePath((directory_ / "none").string()));
  EXPECT_EQ(ParseSourcePath(archive + ":" + (directory_ / "src").string())->size(), 2u);
}

TEST(SitePlace, IsReadFromTheName) {
  const auto place = [](std::string_view name) {
    return model::PlaceOfSite({"A.java", name, "", profile::kMethodSite});
  };
  EXPECT_EQ(place("17:42").bytecode, 17u);
  EXPECT_EQ(place("17:42").line, 42u);
  EXPECT_EQ(place("17:42").file, "A.java");
  for (const char* damaged : {"", "17", "17:", ":42", "a:b", "17:42x", "99999999999:1"})
    EXPECT_FALSE(place(damaged).is_known) << damaged;
  EXPECT_FALSE(model::PlaceOfSite({"A", "17:42", "", 0}).is_known);
}

}  // namespace
}  // namespace jprof::reports
