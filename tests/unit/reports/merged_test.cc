// Reports of a merged profile: sums, and how the merged profiles differ.
#include <gtest/gtest.h>
#include <unistd.h>

#include <sstream>

#include "profile/merge/merge.h"
#include "tests/unit/reports/merged_profile.h"
#include "tests/unit/reports/sampled_profile.h"

namespace jprof::reports {
namespace {

namespace fs = std::filesystem;

// The fields of the last CSV row of method `name`, by column.
std::map<std::string, std::string> RowOf(const std::string& csv, const std::string& name) {
  std::istringstream lines(csv);
  std::string heading, line, last;
  std::getline(lines, heading);
  while (std::getline(lines, line))
    if (line.ends_with(name)) last = line;
  std::map<std::string, std::string> row;
  std::istringstream names(heading), values(last);
  for (std::string key, value; std::getline(names, key, ',') && std::getline(values, value, ',');)
    row[key] = value;
  return row;
}

class Merged : public testing::Test {
 protected:
  ~Merged() override { fs::remove_all(directory_); }
  const fs::path directory_ =
      fs::path(testing::TempDir()) / ("merged-" + std::to_string(getpid()) + ".jprof");
};

TEST_F(Merged, ARowHasTheSumsAndTheSpread) {
  MakeMerged({DemoProfile(), DemoProfile(), TwiceInRead()}, directory_);
  const Printed csv = Print("log-rt", directory_, {.format = Format::kCsv});
  ASSERT_TRUE(csv.result) << csv.result.error().message;
  auto main = RowOf(csv.text, "Demo.main([Ljava/lang/String;)V");
  EXPECT_EQ(main["runs"], "2");
  EXPECT_EQ(main["calls"], "2");
  EXPECT_EQ(main["calls_min"], "0");
  EXPECT_EQ(main["calls_median"], "1");
  EXPECT_EQ(main["calls_max"], "1");
  auto read = RowOf(csv.text, "java/io/FileInputStream.read0()I");
  EXPECT_EQ(read["runs"], "3");
  EXPECT_EQ(read["calls"], "4");
  EXPECT_EQ(read["calls_max"], "2");
  EXPECT_EQ(read["base:time"], "1700");
  EXPECT_EQ(read["raw_min:time"], "500");
  EXPECT_EQ(read["raw_median:time"], "500");
  EXPECT_EQ(read["raw_max:time"], "700");
}

TEST_F(Merged, ARowOfSeveralContextsHasNoSpread) {
  MakeMerged({DemoProfile(), TwiceInRead()}, directory_);
  const Printed csv = Print("log-rt", directory_, {.format = Format::kCsv, .merged = true});
  ASSERT_TRUE(csv.result) << csv.result.error().message;
  std::istringstream lines(csv.text);
  std::string heading, threads;
  std::getline(lines, heading);
  std::getline(lines, threads);  // of main and worker
  auto row = RowOf(heading + "\n" + threads, "(all threads)");
  EXPECT_EQ(row["runs"], "");
  EXPECT_EQ(row["calls_min"], "");
  auto main = RowOf(csv.text, "Demo.main([Ljava/lang/String;)V");
  EXPECT_EQ(main["runs"], "1");
}

TEST_F(Merged, TextShowsTheFirstMetric) {
  MakeMerged({DemoProfile(), TwiceInRead()}, directory_);
  const Printed text = Print("log-rt", directory_, {});
  ASSERT_TRUE(text.result) << text.result.error().message;
  EXPECT_NE(text.text.find("callflow, merged from 2 profiles, "), std::string::npos) << text.text;
  EXPECT_NE(text.text.find("RUNS      MIN   MEDIAN      MAX"), std::string::npos) << text.text;
  EXPECT_NE(text.text.find("   2   500 ns   500 ns   700 ns"), std::string::npos) << text.text;
}

TEST_F(Merged, SamplesHaveASpread) {
  SampledProfile five = SpreadSamples({5, 3}), one = SpreadSamples({1, 3});
  const fs::path a = directory_.string() + "-a", b = directory_.string() + "-b";
  five.Write(a);
  one.Write(b);
  ASSERT_TRUE(profile::Merge({.inputs = {a, b}, .output = directory_}));
  fs::remove_all(a);
  fs::remove_all(b);
  const Printed text = Print("scs", directory_, {});
  ASSERT_TRUE(text.result) << text.result.error().message;
  EXPECT_NE(text.text.find("    2        1        1        5   R:C.m0()"), std::string::npos)
      << text.text;
}

TEST_F(Merged, ADamagedSpreadIsReportedAndTheRestPrinted) {
  MakeMerged({DemoProfile(), TwiceInRead()}, directory_);
  fs::resize_file(directory_ / "spread", 100);
  const Printed cut = Print("log-rt", directory_, {.format = Format::kCsv});
  ASSERT_TRUE(cut.result);
  EXPECT_EQ(RowOf(cut.text, "java/io/FileInputStream.read0()I")["calls"], "3");
  std::ofstream(directory_ / "spread") << "no spread, but longer than the header of one";
  const Printed wrong = Print("log-rt", directory_, {});
  ASSERT_TRUE(wrong.result);
  EXPECT_NE(wrong.text.find("poor: damaged: spread: does not belong"), std::string::npos)
      << wrong.text;
  EXPECT_EQ(wrong.text.find("MEDIAN"), std::string::npos) << wrong.text;
}

}  // namespace
}  // namespace jprof::reports
