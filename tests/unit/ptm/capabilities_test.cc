#include "ptm/capabilities.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>

#include "ptm/event_group.h"

namespace jprof::ptm {
namespace {

const Capability& Named(const std::vector<Capability>& all, const std::string& name) {
  return *std::find_if(all.begin(), all.end(), [&](const Capability& c) { return c.name == name; });
}

TEST(Capabilities, EveryLackIsExplained) {
  for (const Capability& capability : FindCapabilities(ReadMachine())) {
    EXPECT_FALSE(capability.detail.empty()) << capability.name;
    EXPECT_TRUE(capability.available || !capability.lack.empty()) << capability.name;
    EXPECT_EQ(capability.lack.find('\n'), std::string::npos);
  }
}

TEST(Capabilities, AgreesWithWhatOpens) {
  const EventSpec faults{"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 0, 0, 0};
  const EventSpec instructions{"i", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 0,
                               0,   kExcludeKernel};
  const auto all = FindCapabilities(ReadMachine());
  EventGroup group;
  EXPECT_EQ(Named(all, "software").available, !group.Open({&faults, 1}).Failed());
  const EventSpec cycles{"c", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0, 0, kExcludeKernel};
  const bool opens = !group.Open({&instructions, 1}).Failed();
  EXPECT_EQ(Named(all, "hardware").available, opens || !group.Open({&cycles, 1}).Failed());
  if (!Named(all, "hardware").available) {
    EXPECT_FALSE(Named(all, "user-read").available);
  }
}

// 20 sleeps cause at least 20 dispatches. Where the lock is available, it must count like the
// kernel.
TEST(Capabilities, TheLockCountsDispatches) {
  const auto all = FindCapabilities(ReadMachine());
  const Capability& dispatches = Named(all, "dispatches");
  if (dispatches.figures.empty()) GTEST_SKIP() << dispatches.lack;
  EXPECT_TRUE(dispatches.available) << dispatches.lack;
  // Of 20 sleeps; one that ends before the thread is switched out (a hypervisor had the CPU) is not
  // a dispatch.
  EXPECT_GE(dispatches.figures[0].second, 10);
}

TEST(Capabilities, FiguresAreSane) {
  for (const Capability& capability : FindCapabilities(ReadMachine())) {
    for (const auto& [name, value] : capability.figures)
      EXPECT_GT(value, 0) << capability.name << " " << name;
  }
}

}  // namespace
}  // namespace jprof::ptm
