// The lists of columns that docs/REPORTS.md is generated from.
#include <gtest/gtest.h>
#include <unistd.h>

#include <set>
#include <sstream>

#include "tests/unit/profile/series_file.h"
#include "tests/unit/reports/combined_profile.h"
#include "tests/unit/reports/distribution_profile.h"
#include "tests/unit/reports/label_profile.h"
#include "tests/unit/reports/lines_profile.h"
#include "tests/unit/reports/lock_profile.h"
#include "tests/unit/reports/merged_profile.h"
#include "tests/unit/reports/sampled_profile.h"
#include "tests/unit/reports/slow_profile.h"

namespace jprof::reports {
namespace {

namespace fs = std::filesystem;
using Names = std::set<std::string>;

// The names in a heading; those of further metrics (BASE-1) without their number.
Names NamesOf(std::string heading) {
  std::ranges::replace(heading, ',', ' ');
  std::istringstream words(heading);
  Names names;
  for (std::string word; words >> word;) {
    const size_t end = word.find_last_not_of("0123456789");
    names.insert(end + 1 < word.size() && word[end] == '-' ? word.substr(0, end) : word);
  }
  return names;
}

// The heading of a table: of CSV the first line, of text the line behind the head.
std::string HeadingOf(const std::string& text, Format format) {
  const size_t begin = format == Format::kCsv ? 0 : text.find("\n\n") + 2;
  return text.substr(begin, text.find('\n', begin) - begin);
}

// The columns of log-rt that only profiles without a metric have, and those of production times.
Names OfACountedRun(const fs::path& directory) {
  profile::SyntheticProfile demo = DemoProfile();
  demo.meta = kCountedMeta;
  demo.Write(directory);
  const profile::KernelCounts counts = {.node = 2, .interrupts = 1};
  std::ofstream(directory / profile::kKernelCountsFile, std::ios::binary)
      .write(reinterpret_cast<const char*>(&counts), sizeof counts);
  Result<profile::Reader> reader = profile::Reader::Open(directory);
  EXPECT_TRUE(reader);
  model::Source source{std::move(*reader)};
  source.production.resize(1);
  const Result<std::string> text =
      PrintedText([&](Output& out) { return PrintLogRt(source, {.merged = true}, out); });
  EXPECT_TRUE(text);
  fs::remove_all(directory);
  return NamesOf(HeadingOf(*text, Format::kText));
}

// The columns that a report prints of a callflow profile with a trace, of a sampled profile with
// calls and of a merged profile, which no other report than log-rt and scs can tell from others.
Names PrintedColumns(const Report& report) {
  const Format format = report.name == std::string("log-gen") ? Format::kCsv : Format::kText;
  const Options options = {.format = format, .cumulative = true, .raw = true};
  const fs::path directory =
      fs::path(testing::TempDir()) / ("columns-" + std::to_string(getpid()) + ".jprof");
  SampledProfile sampled = SpreadSamples({3, 2});
  sampled.made.nodes.back().entries[0] = 1;
  DemoProfile(/*with_trace=*/true).Write(directory);
  const Printed callflow = Print(report.name, directory, options, DemoTable());
  sampled.Write(directory);
  const Printed samples = Print(report.name, directory, options);
  fs::remove_all(directory);
  SampledProfile other = SpreadSamples({1, 2});
  other.Write(directory.string() + "-a");
  other.Write(directory.string() + "-b");
  EXPECT_TRUE(profile::Merge(
      {.inputs = {directory.string() + "-a", directory.string() + "-b"}, .output = directory}));
  const Printed merged = Print(report.name, directory, options);
  for (const char* end : {"", "-a", "-b"}) fs::remove_all(directory.string() + end);
  RemovedObjects().Write(directory);
  const Printed objects = Print(report.name, directory, options);
  fs::remove_all(directory);
  Names names;
  DemoLive().Write(directory);
  const Printed live = Print(report.name, directory, options);
  fs::remove_all(directory);
  if (live.result && format == Format::kText) names.merge(NamesOf(HeadingOf(live.text, format)));
  if (report.name == std::string("log-jlm")) {
    DemoLocks().Write(directory);
    names.merge(NamesOf(HeadingOf(Print(report.name, directory, options).text, format)));
    fs::remove_all(directory);
  }
  if (report.name == std::string("distribution")) {
    DemoDistributions().made.Write(directory);
    names.merge(NamesOf(HeadingOf(Print(report.name, directory, options).text, format)));
    fs::remove_all(directory);
  }
  if (report.name == std::string("slow")) {
    DemoSlow().Write(directory);
    names.merge(NamesOf(HeadingOf(Print(report.name, directory, options).text, format)));
    fs::remove_all(directory);
  }
  if (report.name == std::string("labels")) {
    for (const char* metric : {R"({"name":"time","unit":"ns","scale":1,"kind":"time"})",
                               R"({"name":"samples","unit":"samples","scale":1,"kind":"samples",
                                   "period":1000000,"period_unit":"ns"})"}) {
      ProfileOfLabels("", metric).Write(directory);
      names.merge(NamesOf(HeadingOf(Print(report.name, directory, options).text, format)));
      fs::remove_all(directory);
    }
  }
  if (objects.result && format == Format::kText)
    names.merge(NamesOf(HeadingOf(objects.text, format)));
  if (report.name == std::string("log-rt")) names.merge(OfACountedRun(directory));
  if (report.name == std::string("series")) {
    DemoProfile().Write(directory);
    EXPECT_TRUE(profile::WriteSeries(directory));
    names.merge(NamesOf(HeadingOf(Print(report.name, directory, options).text, format)));
    fs::remove_all(directory);
    sampled.Write(directory);
    EXPECT_TRUE(profile::WriteSeries(directory, sampled.made.header.metric_count - 1));
    names.merge(NamesOf(HeadingOf(Print(report.name, directory, options).text, format)));
    fs::remove_all(directory);
  }
  if (report.name == std::string("lines")) {
    for (profile::SyntheticProfile made : {profile::CountedLines(), profile::SampledLines()}) {
      made.Write(directory);
      names.merge(NamesOf(HeadingOf(Print(report.name, directory, options).text, format)));
      fs::remove_all(directory);
    }
  }
  if (merged.result && format == Format::kText)
    names.merge(NamesOf(HeadingOf(merged.text, format)));
  if (callflow.result) names.merge(NamesOf(HeadingOf(callflow.text, format)));
  if (samples.result && format == Format::kText)
    names.merge(NamesOf(HeadingOf(samples.text, format)));
  return names;
}

TEST(ReportList, TheListedColumnsAreThePrintedOnes) {
  for (const Report& report : Reports()) {
    if (!PrintsProfiles(report)) continue;
    Names listed;
    for (const ColumnHelp& column : report.columns) {
      EXPECT_TRUE(listed.insert(std::string(column.name)).second) << column.name;
      EXPECT_FALSE(column.meaning.empty()) << column.name;
    }
    EXPECT_EQ(listed, PrintedColumns(report)) << report.name;
  }
}

TEST(ReportList, EveryKindOfInputHasAPageAndAReportThatIsPrintedWithoutAName) {
  using enum model::InputKind;
  const std::map<model::InputKind, std::string> names = {
      {kProfile, "log-rt"}, {kCombined, "combined"}, {kTicks, "tprof"},
      {kTrace, "arc"},      {kEvents, "timeline"},   {kScale, "scale"}};
  for (const auto& [kind, name] : names) {
    EXPECT_EQ(DefaultReport(kind).name, name);
    EXPECT_NE(DefaultReport(kind).print, nullptr);
    EXPECT_TRUE(DefaultReport(kind).page != nullptr);
  }
}

}  // namespace
}  // namespace jprof::reports
