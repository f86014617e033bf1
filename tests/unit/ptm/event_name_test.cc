#include "ptm/names/event_name.h"

#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include "ptm/event_group.h"
#include "ptm/machine.h"

namespace jprof::ptm {
namespace {

bool HasPmu() { return !ReadMachine().pmu.empty(); }

TEST(EventName, SoftwareEventsInAnySpelling) {
  for (const char* name :
       {"perf::PAGE-FAULTS", "PAGE-FAULTS", "page-faults", "perf::PERF_COUNT_SW_PAGE_FAULTS"}) {
    const auto event = ResolveEvent(name);
    ASSERT_TRUE(event.has_value()) << event.error().message;
    EXPECT_EQ(event->spec.name, name);
    EXPECT_EQ(event->spec.type, static_cast<uint32_t>(PERF_TYPE_SOFTWARE));
    EXPECT_EQ(event->spec.config, static_cast<uint64_t>(PERF_COUNT_SW_PAGE_FAULTS));
    EXPECT_EQ(event->spec.exclude & (kExcludeUser | kExcludeKernel), 0u);
  }
}

TEST(EventName, HardwareEventsCountUserModeByDefault) {
  const auto exclude = [](const char* name) {
    const auto event = ResolveEvent(name);
    return event ? event->spec.exclude & (kExcludeUser | kExcludeKernel) : 99;
  };
  EXPECT_EQ(exclude("perf::INSTRUCTIONS"), kExcludeKernel);
  EXPECT_EQ(exclude("perf::INSTRUCTIONS:k"), kExcludeUser);
  EXPECT_EQ(exclude("perf::INSTRUCTIONS:u:k"), 0u);
  EXPECT_EQ(exclude("perf::PAGE-FAULTS:u"), kExcludeKernel);
}

TEST(EventName, PresetsAreKnownWithoutAPmu) {
  for (const char* name : {"PAPI_TOT_INS", "papi_tot_cyc", "PAPI_L1_DCM", "PAPI_BR_MSP"}) {
    const auto event = ResolveEvent(name);
    ASSERT_TRUE(event.has_value()) << event.error().message;
    EXPECT_EQ(event->spec.name, name);
    EXPECT_FALSE(IsSoftware(event->spec));
  }
  const auto with_kernel = ResolveEvent("PAPI_TOT_INS:u:k");
  ASSERT_TRUE(with_kernel.has_value()) << with_kernel.error().message;
  EXPECT_EQ(with_kernel->spec.exclude & kExcludeKernel, 0u);
}

TEST(EventName, WithoutAPmuTheErrorReportsIt) {
  if (HasPmu()) GTEST_SKIP() << "this machine has a PMU";
  for (const char* name : {"PAPI_TOT_INS", "PAPI_L2_TCM", "perf::INSTRUCTIONS", "r00c0"}) {
    const auto event = CheckEvent(name);
    ASSERT_FALSE(event.has_value()) << name;
    EXPECT_NE(event.error().message.find("PMU"), std::string::npos) << event.error().message;
    EXPECT_NE(event.error().message.find(name), std::string::npos);
  }
}

TEST(EventName, UnknownNamesTheNearest) {
  const std::pair<const char*, const char*> cases[] = {
      {"PAPI_TOT_INST", "PAPI_TOT_INS"},
      {"page-fault", "PAGE-FAULTS"},
      {"perf::CONTEXT-SWITCH", "CONTEXT-SWITCHES"},
      {"tme", "time"},
      {"dispatch", "dispatches"},
  };
  for (const auto& [wrong, right] : cases) {
    const auto event = ResolveEvent(wrong);
    ASSERT_FALSE(event.has_value()) << wrong;
    EXPECT_EQ(event.error().kind, Error::Kind::kWrongUse);
    EXPECT_NE(event.error().message.find(right), std::string::npos) << event.error().message;
    EXPECT_NE(event.error().message.find(wrong), std::string::npos) << event.error().message;
    EXPECT_NE(event.error().message.find("jprof metrics"), std::string::npos);
  }
  const auto nonsense = ResolveEvent("qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq");
  ASSERT_FALSE(nonsense.has_value());
  EXPECT_EQ(nonsense.error().message.find("nearest"), std::string::npos);
}

TEST(EventName, ABadModifierNamesTheValidOnes) {
  const auto event = ResolveEvent("perf::PAGE-FAULTS:zz");
  ASSERT_FALSE(event.has_value());
  EXPECT_EQ(event.error().kind, Error::Kind::kWrongUse);
  EXPECT_NE(event.error().message.find("u, k"), std::string::npos) << event.error().message;
}

TEST(EventName, AgentNamesEncodeWhatOpens) {
  const std::string names[] = {"time", "perf::PAGE-FAULTS"};
  const auto metrics = CheckMetrics(names);
  if (!metrics) GTEST_SKIP() << metrics.error().message;
  ASSERT_EQ(metrics->metrics.size(), 2u);
  EXPECT_EQ(metrics->metrics[0].AgentName(), "time");
  const auto event = DecodeMetric(metrics->metrics[1].AgentName());
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->name, "perf::PAGE-FAULTS");
  EventGroup group;
  EXPECT_FALSE(group.Open({&*event, 1}).Failed());
}

TEST(EventName, CheckMetricsRefuses) {
  const auto refused = [](std::vector<std::string> names) {
    const auto metrics = CheckMetrics(names);
    return metrics ? "" : metrics.error().message;
  };
  EXPECT_NE(refused(std::vector<std::string>(9, "time")).find("8 at most"), std::string::npos);
  EXPECT_NE(refused({"time", "time"}).find("twice"), std::string::npos);
  EXPECT_NE(refused({"time", "TIME"}).find("TIME"), std::string::npos);
  EXPECT_NE(refused({"page-faults", "perf::PAGE-FAULTS"}).find("same event"), std::string::npos);
  EXPECT_NE(refused({"time", "nosuchevent"}).find("nosuchevent"), std::string::npos);
  EXPECT_NE(refused({""}).find("empty"), std::string::npos);
}

TEST(EventName, BothSidesOfAName) {
  const auto has = [](const std::vector<std::string>& names, const char* name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  EXPECT_TRUE(has(OtherNames("PAPI_TOT_INS"), "perf::INSTRUCTIONS"));
  EXPECT_TRUE(has(OtherNames("perf::INSTRUCTIONS"), "PAPI_TOT_INS"));
  EXPECT_FALSE(has(OtherNames("perf::INSTRUCTIONS"), "PAPI_TOT_CYC"));
  EXPECT_EQ(DescribeEvent("page-faults"), "Page faults");
  EXPECT_NE(DescribeEvent("papi_tot_ins").find("nstructions"), std::string::npos);
  EXPECT_EQ(DescribeEvent("nosuchevent"), "");
}

TEST(EventName, SoftwareEventsAlwaysFit) {
  std::vector<EventSpec> events;
  for (const char* name : {"page-faults", "cpu-clock", "task-clock"}) {
    const auto event = CheckEvent(name);
    if (!event) GTEST_SKIP() << event.error().message;
    events.push_back(event->spec);
  }
  EXPECT_TRUE(DoNotFit(events).empty());
}

TEST(EventName, ListHoldsPresetsAndEvents) {
  const std::vector<std::string> known = KnownEvents();
  const auto has = [&](const char* name) {
    return std::find(known.begin(), known.end(), name) != known.end();
  };
  EXPECT_TRUE(has("PAPI_TOT_INS"));
  EXPECT_TRUE(has("perf::PAGE-FAULTS"));
  EXPECT_TRUE(std::is_sorted(known.begin(), known.end()));
}

}  // namespace
}  // namespace jprof::ptm
