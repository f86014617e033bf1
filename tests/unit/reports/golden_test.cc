// Reports of one small profile against tests/golden/: input and output on one page.
// JPROF_UPDATE_GOLDEN=1 writes the files anew; look at the difference before you commit it.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "tests/unit/reports/demo_profile.h"

namespace jprof::reports {
namespace {

namespace fs = std::filesystem;

struct Case {
  const char* golden;
  const char* report;
  Options options;
  bool calibrated = true;
};

void PrintTo(const Case& one, std::ostream* out) { *out << one.golden; }

const Case kCases[] = {
    {"log_rt.txt", "log-rt", {}},
    {"log_rt_all.txt", "log-rt", {.all = true, .legends = true}},
    {"log_rt_80.txt", "log-rt", {.width = 80}},
    {"log_rt_120.txt", "log-rt", {.width = 120}},
    {"log_rt_short.txt", "log-rt", {.names = model::NameForm::kShort}},
    {"log_rt_jvm.txt", "log-rt", {.names = model::NameForm::kJvm}},
    {"log_rt.md", "log-rt", {.format = Format::kMarkdown}},
    {"methods_legend.txt", "methods", {.legends = true}},
    {"log_rt_uncalibrated.txt", "log-rt", {}, false},
    {"log_rt_raw.txt", "log-rt", {.cumulative = true, .raw = true, .static_letters = true}},
    {"log_rt_merged.txt", "log-rt", {.merged = true, .sort = model::Sort::kBase}},
    {"log_rt_folded.txt", "log-rt", {.min_percent = 10, .depth = 2}},
    {"log_rt.json", "log-rt", {.format = Format::kJson}},
    {"log_rt.csv", "log-rt", {.format = Format::kCsv, .cumulative = true}},
    {"methods.txt", "methods", {}},
    {"methods.json", "methods", {.format = Format::kJson}},
    {"methods.csv", "methods", {.format = Format::kCsv}},
    {"log_gen.txt", "log-gen", {}, false},
    {"log_gen_calibrated.txt", "log-gen", {}},
    {"log_gen.json", "log-gen", {.format = Format::kJson}},
    {"log_gen.csv", "log-gen", {.format = Format::kCsv}},
};

class Golden : public testing::TestWithParam<Case> {};

TEST_P(Golden, IsAsWritten) {
  const Case& one = GetParam();
  const fs::path directory =
      fs::path(testing::TempDir()) / ("golden-" + std::to_string(getpid()) + ".jprof");
  DemoProfile(/*with_trace=*/true).Write(directory);
  Printed printed = Print(one.report, directory, one.options,
                          one.calibrated ? std::optional(DemoTable()) : std::nullopt);
  fs::remove_all(directory);
  ASSERT_TRUE(printed.result) << printed.result.error().message;
  printed.text = Replaced(printed.text, directory.string(), "demo.jprof");

  const fs::path golden = fs::path(__FILE__).parent_path() / "../../golden" / one.golden;
  if (std::getenv("JPROF_UPDATE_GOLDEN") != nullptr) std::ofstream(golden) << printed.text;
  std::ostringstream expected;
  expected << std::ifstream(golden).rdbuf();
  EXPECT_EQ(printed.text, expected.str());
}

INSTANTIATE_TEST_SUITE_P(Reports, Golden, testing::ValuesIn(kCases), [](const auto& tested) {
  std::string name = tested.param.golden;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
});

}  // namespace
}  // namespace jprof::reports
