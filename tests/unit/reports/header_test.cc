// The head of text reports, apart from what the golden files show.
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "tests/unit/reports/demo_profile.h"

namespace jprof::reports {
namespace {

namespace fs = std::filesystem;

std::string TextOf(const char* report, profile::SyntheticProfile made,
                   Format format = Format::kText) {
  const fs::path directory =
      fs::path(testing::TempDir()) / ("header-" + std::to_string(getpid()) + ".jprof");
  made.Write(directory);
  const Printed printed = Print(report, directory, {.format = format}, std::nullopt);
  fs::remove_all(directory);
  EXPECT_TRUE(printed.result) << report;
  return Unwrapped(printed.text);
}

TEST(Header, ReportsTheNumberOfPartlyCountedMethods) {
  profile::SyntheticProfile exact = DemoProfile(/*with_trace=*/true);
  profile::SyntheticProfile partial = exact;
  for (const char* name : {"max", "min"}) {
    partial.AddMethod("java/lang/Math", name, "(II)I",
                      profile::kMethodStatic | profile::kMethodIntrinsic);
  }
  const std::string line = "calls may be missing of 2 methods that have intrinsics";
  for (const char* report : {"log-rt", "methods", "log-gen"}) {
    EXPECT_EQ(TextOf(report, exact).find("intrinsics"), std::string::npos) << report;
    EXPECT_NE(TextOf(report, partial).find(line), std::string::npos) << report;
  }
}

// An existing file that cannot be read is reported as damage, whatever its name; a file that no
// longer exists is not.
TEST(Header, ReportsFilesThatHaveNoNames) {
  const fs::path there =
      fs::path(testing::TempDir()) / ("header: " + std::to_string(getpid()) + ".so");
  std::ofstream(there) << "no ELF file";
  const auto with = [](const fs::path& module) {
    profile::SyntheticProfile made = DemoProfile();
    made.AddMethod(module.string(), "0x10", "", profile::kMethodCode);
    return TextOf("log-rt", made);
  };
  EXPECT_NE(with(there).find("names of functions are missing"), std::string::npos);
  fs::remove(there);
  EXPECT_EQ(with(there).find("names of functions are missing"), std::string::npos);
}

TEST(Header, WithoutOneStandardErrorReportsLosses) {
  for (const Format format : {Format::kText, Format::kJson, Format::kCsv, Format::kMarkdown}) {
    testing::internal::CaptureStderr();
    TextOf("methods", DemoProfile(), format);
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(said.starts_with("jprof: lost: 1 "), !EntryOf(format).head) << said;
  }
}

}  // namespace
}  // namespace jprof::reports
