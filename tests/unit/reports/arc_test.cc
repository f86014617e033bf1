// The report arc of one made recording against tests/golden/, and of damaged ones.
#include "reports/itrace/arc.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <random>
#include <set>
#include <sstream>

#include "reports/quality/quality_of.h"
#include "reports/report_list.h"
#include "tests/unit/reports/arc_recording_made.h"
#include "tests/unit/reports/demo_profile.h"

namespace jprof::reports {
namespace {

namespace fs = std::filesystem;

Result<std::string> PrintedArc(const fs::path& directory, const Options& options) {
  auto arcs = model::OpenArcRecording(directory);
  if (!arcs) return std::unexpected(arcs.error());
  return PrintedText([&](Output& out) { return PrintArc(*arcs, options, out); });
}

struct ArcCase {
  const char* golden;
  Options options;
};

void PrintTo(const ArcCase& one, std::ostream* out) { *out << one.golden; }

const ArcCase kArcCases[] = {
    {"arc.txt", {}},
    {"arc_function.txt", {.min_percent = 20, .function = "work"}},
    {"arc_thread.txt", {.top = 2, .tid = 17}},
    {"arc.json", {.format = Format::kJson}},
    {"arc.csv", {.format = Format::kCsv}},
    {"arc.md", {.format = Format::kMarkdown}},
    {"arc.collapsed", {.format = Format::kCollapsed}},
    {"arc_merged.collapsed", {.format = Format::kCollapsed, .merged = true}},
#if defined(__x86_64__)
    {"arc_listing.txt", {.listing = true}},
#endif
};

class ArcGolden : public testing::TestWithParam<ArcCase> {};

TEST_P(ArcGolden, IsAsWritten) {
  const MadeArcRecording made;
  const auto printed = PrintedArc(made.directory(), GetParam().options);
  ASSERT_TRUE(printed) << printed.error().message;
  const std::string text = Replaced(*printed, made.directory().string(), "demo.itrace");
  const fs::path golden = fs::path(__FILE__).parent_path() / "../../golden" / GetParam().golden;
  if (std::getenv("JPROF_UPDATE_GOLDEN") != nullptr) std::ofstream(golden) << text;
  std::ostringstream expected;
  expected << std::ifstream(golden).rdbuf();
  EXPECT_EQ(text, expected.str());
}

INSTANTIATE_TEST_SUITE_P(Arc, ArcGolden, testing::ValuesIn(kArcCases), [](const auto& tested) {
  std::string name = tested.param.golden;
  std::ranges::replace(name, '.', '_');
  return name;
});

std::set<std::string> ArcHeadings(const std::string& text, const std::string& first) {
  const size_t at = text.find(first);
  std::istringstream line(text.substr(at, text.find('\n', at) - at));
  std::set<std::string> words;
  for (std::string word; line >> word;) words.insert(word);
  return words;
}

TEST(ArcReport, TheListedColumnsAreThePrintedOnes) {
  const MadeArcRecording made;
  const std::string text = PrintedArc(made.directory(), {}).value();
  const auto listed = [](std::span<const ColumnHelp> columns) {
    std::string all;
    for (const ColumnHelp& column : columns) all += std::string(column.name) + " ";
    return ArcHeadings(all, all.substr(0, 1));
  };
  const Report& report = DefaultReport(model::InputKind::kTrace);
  EXPECT_EQ(ArcHeadings(text, "  SELF  SELF%"), listed(report.columns));
  EXPECT_EQ(ArcHeadings(text.substr(text.rfind("CUM   CUM%")), "CUM"), listed(report.more_columns));
}

TEST(ArcReport, WrongUseNamesTheNextStep) {
  const MadeArcRecording made;
  const auto error = [&](const Options& options) {
    const auto printed = PrintedArc(made.directory(), options);
    return printed ? "none" : printed.error().message;
  };
  EXPECT_NE(error({.tid = 5}).find("has no thread 5"), std::string::npos);
  EXPECT_NE(error({.function = "xyz"}).find("'xyz'"), std::string::npos);
  EXPECT_NE(error({.listing = true, .function = "xyz"}).find("'xyz'"), std::string::npos);
  EXPECT_NE(error({.format = Format::kJson, .listing = true}).find("--listing is text"),
            std::string::npos);
  EXPECT_EQ(PrintedArc("/nonexistent", {}).error().kind, Error::Kind::kWrongUse);
  fs::remove(made.directory() / profile::kBranchesFile);
  EXPECT_NE(error({}).find("has no branches: make a recording with jprof itrace"),
            std::string::npos);
}

std::string BytesIn(const fs::path& path) {
  std::ostringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  return bytes.str();
}

// Any truncation is an error that names the file, or a report that names the loss.
TEST(ArcReport, ATruncatedTraceIsALoss) {
  const MadeArcRecording made;
  const fs::path path = made.directory() / profile::kBranchesFile;
  const std::string whole = BytesIn(path);
  for (size_t size = 0; size < whole.size(); ++size) {
    std::ofstream(path, std::ios::binary) << whole.substr(0, size);
    const auto printed = PrintedArc(made.directory(), {});
    const std::string text = printed ? *printed : printed.error().message;
    EXPECT_NE(text.find("branches"), std::string::npos) << size;
    if (!printed) continue;
    EXPECT_NE(text.find(" quality   poor: damaged: "), std::string::npos) << text;
  }
}

TEST(ArcReport, TheQualityIsGradedByShares) {
  const MadeArcRecording made;
  auto arcs = model::OpenArcRecording(made.directory());
  ASSERT_TRUE(arcs);
  model::ArcTrace trace = model::WalkArcs(*arcs);
  const auto severity = [&](std::string_view name) {
    const Quality quality = QualityOf(*arcs, trace);
    const auto fact = std::ranges::find(quality.facts, name, &Fact::name);
    return fact == quality.facts.end() ? "none" : std::string(NameOf(fact->severity));
  };
  EXPECT_EQ(severity("unnamed_code"), "minor");  // 7 of 46 instructions
  trace.instructions = 7 * 5;
  EXPECT_EQ(severity("unnamed_code"), "major");
  trace.instructions = 7 * 101;
  EXPECT_EQ(severity("unnamed_code"), "info");
  EXPECT_EQ(severity("before"), "info");
  EXPECT_EQ(severity("left"), "none");
  EXPECT_EQ(severity("damaged"), "none");
  trace.left = 3;
  EXPECT_EQ(severity("left"), "info");
}

// Whatever bytes are changed, the numbers stay consistent.
TEST(ArcReport, ChangedBytesAreReadOrRefused) {
  const MadeArcRecording made;
  const fs::path path = made.directory() / profile::kBranchesFile;
  const std::string whole = BytesIn(path);
  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i) {
    std::string changed = whole;
    changed[random() % changed.size()] = static_cast<char>(random());
    std::ofstream(path, std::ios::binary) << changed;
    auto arcs = model::OpenArcRecording(made.directory());
    if (!arcs) continue;
    const model::ArcTrace trace = model::WalkArcs(*arcs);
    const model::ArcSums sums = model::SumUp(trace, arcs->code->functions().size());
    EXPECT_EQ(sums.functions[model::kThreadFunction].cumulative, trace.instructions);
  }
}

TEST(ArcReport, EachVersionOfTheCodeHasItsName) {
  const MadeArcRecording made;
  auto arcs = model::OpenArcRecording(made.directory());
  ASSERT_TRUE(arcs);
  const auto name = [&](uint64_t address, uint64_t time) {
    return arcs->code->functions()[arcs->code->At(16, address, time).function].name;
  };
  for (int i = 0; i < 2; ++i) {  // threads alternate, so times go back
    EXPECT_EQ(name(MadeArcRecording::kWork, 20), "app.work");
    EXPECT_EQ(name(MadeArcRecording::kWork, 499), "app.work");
    EXPECT_EQ(name(MadeArcRecording::kWork, 500), "app.fast");
    EXPECT_EQ(name(MadeArcRecording::kWork, 1 << 20), "app.fast");
    EXPECT_EQ(name(MadeArcRecording::kMain + 3, 700), "app.main");
  }
}

// The tracer looks at the mappings now and then.
TEST(ArcCode, AMappingThatIsFoundLaterIsUsed) {
  a2n::Resolver resolver;
  resolver.Map(16, 500, {.start = 0x400000, .length = 0x1000, .path = "/nonexistent/lib.so"});
  const model::CodeChange changes[] = {{0, 16, 0, ~uint64_t{0}, false},
                                       {500, 16, 0x400000, 0x1000, true}};
  model::ArcCode code(resolver, changes);
  const auto name = [&](uint64_t address, uint64_t time) {
    return code.functions()[code.At(16, address, time).function].name;
  };
  EXPECT_EQ(name(0x400010, 20), "[lib.so]");
  EXPECT_EQ(name(0x400010, 600), "[lib.so]");
  EXPECT_EQ(name(0x401000, 20), "[NoModule]");
}

}  // namespace
}  // namespace jprof::reports
