// The source lines on a page: of what kinds of profiles, and how many.
#include "reports/view/line_view.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "reports/view/views.h"
#include "tests/unit/reports/lines_profile.h"
#include "tests/unit/temporary_directory.h"

namespace jprof::reports {
namespace {

using nlohmann::json;
using profile::SyntheticProfile;

class LineView : public testing::Test {
 protected:
  model::Source Open(SyntheticProfile profile, const std::string& name) {
    const std::string path = (directory_.path() / name).string();
    profile.Write(path);
    auto source = model::OpenSource(path, {});
    EXPECT_TRUE(source) << (source ? "" : source.error().message);
    return *std::move(source);
  }

  // Returns the lines as the page has them, by the names of methods.
  json Described(const model::Lines& lines, std::vector<std::string> source_path = {}) {
    SourceFiles sources(std::move(source_path));
    ViewNames names;
    json described = DescribeLines(lines, sources, names);
    json by_name = json::object();
    for (const json& method : described["methods"])
      by_name[names.all()[method["method"].get<size_t>()]] = method;
    described["methods"] = by_name;
    return described;
  }

  TemporaryDirectory directory_{"lines"};
};

constexpr char kRun[] = "app/Main.run()V";

json Member(const json& list, const char* member) {
  json values = json::array();
  for (const json& one : list) values.push_back(one[member]);
  return values;
}

TEST_F(LineView, CallsAndTheTextOfLines) {
  std::filesystem::create_directories(directory_.path() / "src/app");
  {
    std::ofstream file(directory_.path() / "src/app/Main.java");
    for (int line = 1; line <= 10; ++line) file << "  leaf(); // " << line << "\n";
  }
  model::Source source = Open(profile::CountedLines(), "c.jprof");
  const auto lines = model::LoadLines(source, {});
  ASSERT_TRUE(lines);
  const json page = Described(*lines, {(directory_.path() / "src").string()});
  EXPECT_TRUE(page["metric"].is_null());
  EXPECT_EQ(page["has_calls"], true);
  ASSERT_EQ(page["methods"].size(), 1u);  // leaf has no lines
  const json& run = page["methods"][kRun];
  EXPECT_EQ(run["file"], "Main.java");
  EXPECT_EQ(run["left_out"], 0);
  EXPECT_EQ(Member(run["lines"], "line"), json({10, 12, 14}));
  EXPECT_EQ(Member(run["lines"], "calls"), json({6, 2, 1}));
  EXPECT_EQ(Member(run["lines"], "text"), json({"leaf(); // 10", "", ""}));
  const json& called = run["lines"][0]["called"];
  EXPECT_EQ(Member(called, "bytecode"), json({3, 6}));
  EXPECT_EQ(Member(called, "calls"), json({4, 2}));
  EXPECT_EQ(Member(called, "type"), json({"I", "I"}));
}

TEST_F(LineView, ACombinedProfileHasSamplesAndCalls) {
  model::Combined combined = {.counted = Open(profile::CountedLines(), "c.jprof")};
  combined.sampled.push_back(Open(profile::SampledLines(), "s.jprof"));
  const auto lines = model::LoadLines(combined, {});
  ASSERT_TRUE(lines);
  const json page = Described(*lines);
  EXPECT_EQ(page["metric"]["kind"], "samples");
  EXPECT_EQ(page["whole"], 14);
  const json& run = page["methods"][kRun]["lines"];
  EXPECT_EQ(Member(run, "line"), json({10, 12, 14}));
  EXPECT_EQ(Member(run, "calls"), json({6, 2, 1}));
  EXPECT_EQ(Member(run, "own"), json({7, 0, 4}));
  EXPECT_EQ(Member(run, "all"), json({10, 0, 6}));
}

TEST_F(LineView, SmallLinesAreLeftOut) {
  model::Lines lines;
  lines.metric.emplace().info.name = "cpu";
  lines.whole = 10000;
  model::MethodLines& method = lines.methods.emplace_back();
  method.name = kRun;
  method.lines = {
      {.line = 1, .all = 9},
      {.line = 2, .all = 10, .called = {{.callee = "a", .all = 9}, {.callee = "b", .all = 10}}},
      {.line = 3, .calls = 1},
      {.line = 4, .calls = 2000}};
  const json run = Described(lines)["methods"][kRun];
  EXPECT_EQ(Member(run["lines"], "line"), json({2, 4}));
  EXPECT_EQ(run["lines"][0]["called"].size(), 1u);
  EXPECT_EQ(run["left_out"], 2);
}

TEST_F(LineView, APageHoldsTheLargestLinesAndNoLongText) {
  std::filesystem::create_directories(directory_.path() / "app");
  std::ofstream(directory_.path() / "app/Main.java") << "x" << std::string(300, '\xc3') << "\n";
  model::Lines lines;
  lines.metric.emplace().info.name = "cpu";
  lines.whole = 100;
  model::MethodLines& method = lines.methods.emplace_back();
  method.name = kRun;
  for (uint32_t line = 1; line <= 5000; ++line)
    method.lines.push_back({.line = line, .all = line % 2 == 1 ? 100.0 : 50.0});
  const json run = Described(lines, {directory_.path().string()})["methods"][kRun];
  ASSERT_EQ(run["lines"].size(), 3000u);
  EXPECT_EQ(run["left_out"], 2000);
  size_t largest = 0;
  for (const json& line : run["lines"]) largest += line["all"] == 100 ? 1 : 0;
  EXPECT_EQ(largest, 2500u);
  const json numbers = Member(run["lines"], "line");
  EXPECT_TRUE(std::ranges::is_sorted(numbers));
  EXPECT_LE(run["lines"][0]["text"].get<std::string>().size(), 200u);
}

TEST_F(LineView, OnlyProfilesWithLinesHaveThem) {
  SyntheticProfile profile = profile::CountedLines();
  const auto has_lines = [&](const std::string& name) {
    model::Source source = Open(profile, name);
    auto page = ViewOf(source);
    EXPECT_TRUE(page);
    return page && !(*page)["lines"].is_null();
  };
  EXPECT_TRUE(has_lines("with.jprof"));
  profile.meta = R"({"mode":"calltree","metrics":[]})";
  EXPECT_FALSE(has_lines("without.jprof"));
}

}  // namespace
}  // namespace jprof::reports
