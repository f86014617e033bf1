// The report of labels, over a small profile.
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/unit/reports/label_profile.h"

namespace jprof::reports {
namespace {

namespace fs = std::filesystem;

Printed PrintOf(profile::SyntheticProfile profile, const std::string& report,
                const Options& options) {
  const fs::path directory =
      fs::path(testing::TempDir()) / ("labels-" + std::to_string(getpid()) + ".jprof");
  fs::remove_all(directory);
  profile.Write(directory);
  Printed printed = Print(report, directory, options);
  fs::remove_all(directory);
  return printed;
}

TEST(LabelsReport, HasTheCallsOfEachMethodPerSet) {
  const Printed csv = PrintOf(ProfileOfLabels(), "labels", {.format = Format::kCsv});
  EXPECT_EQ(csv.text,
            "label,type,method,set,calls,per_set\n"
            "GET /cart,,,10,1015,101.50\n"
            "GET /cart,W,Shop.find(I)V,10,1010,101.00\n"
            "GET /cart,W,Shop.main()V,10,5,0.50\n"
            "part,,,5,20,4.00\n"
            "part,W,Shop.find(I)V,5,20,4.00\n"
            ",,,,2,\n"
            ",W,Shop.main()V,,1,\n"
            ",W,Shop.find(I)V,,1,\n");
}

TEST(LabelsReport, RequestsForALockAreNoCallsOfTheLabel) {
  profile::SyntheticProfile made = ProfileOfLabels();
  const auto label =
      std::ranges::find(made.nodes, FrameKind::kLabel,
                        [](const profile::Node& node) { return profile::TypeOf(node.ref); });
  const profile::MethodId lock = made.AddMethod("Lock", "", "", profile::kMethodClass);
  const uint32_t node = made.AddNode(profile::PackMethod(FrameKind::kWoven, lock),
                                     static_cast<uint32_t>(label - made.nodes.begin()));
  made.nodes[node].entries[0] = 30;
  const Printed csv = PrintOf(made, "labels", {.format = Format::kCsv});
  EXPECT_NE(csv.text.find("GET /cart,,,10,1015,101.50\n"), std::string::npos) << csv.text;
  EXPECT_NE(csv.text.find("GET /cart,-,Lock,10,30,3.00\n"), std::string::npos) << csv.text;
}

TEST(LabelsReport, ShowsALabelAsALevelOfTheTree) {
  const Printed text = PrintOf(ProfileOfLabels(), "log-rt", {.all = true});
  EXPECT_NE(text.text.find("@:label GET /cart\n"), std::string::npos) << text.text;
  const Printed report = PrintOf(ProfileOfLabels(), "labels", {});
  EXPECT_NE(report.text.find("101.50 @:label GET /cart\n"), std::string::npos) << report.text;
}

TEST(LabelsReport, PrintsHostileTextsCleaned) {
  const Printed text = PrintOf(ProfileOfLabels("\x1b[31m\n"), "labels", {});
  EXPECT_EQ(text.text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.text.find("/cart\n["), std::string::npos);
}

TEST(LabelsReport, RefusesAProfileWithoutLabels) {
  const Printed printed = PrintOf(DemoProfile(), "labels", {});
  ASSERT_FALSE(printed.result);
  EXPECT_NE(printed.result.error().message.find("has no labels"), std::string::npos);
}

}  // namespace
}  // namespace jprof::reports
