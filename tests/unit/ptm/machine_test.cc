#include "ptm/machine.h"

#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

namespace jprof::ptm {
namespace {

const EventSpec kMissing{"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 0, 0, 0};
const EventSpec kOffered{"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 0, 0, 0};

class MachineTest : public testing::Test {
 protected:
  MachineTest() {
    std::string name = testing::TempDir() + "machineXXXXXX";
    root_ = mkdtemp(name.data());
    Write("/proc/sys/kernel/perf_event_paranoid", "2");
    Write("/proc/self/status", "Name:\tx\nCapEff:\t0000000000000000\n");
    Write("/proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu tsc\n");
  }
  ~MachineTest() override { std::filesystem::remove_all(root_); }
  void Write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }
  std::string root_;
};

TEST_F(MachineTest, TheSettingOfLargePagesIsTheOneInBrackets) {
  EXPECT_EQ(LargePageSetting(root_), "");
  Write("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
  EXPECT_EQ(LargePageSetting(root_), "madvise");
  Write("/sys/kernel/mm/transparent_hugepage/enabled", "nonsense]");
  EXPECT_EQ(LargePageSetting(root_), "");
}

TEST_F(MachineTest, BareMachineHasNothing) {
  const Machine machine = ReadMachine(root_);
  EXPECT_EQ(machine.pmu, "");
  EXPECT_FALSE(machine.virtual_machine);
  EXPECT_FALSE(machine.privileged);
  EXPECT_EQ(machine.paranoid, 2);
  EXPECT_FALSE(machine.user_access.has_value());
  EXPECT_EQ(machine.cpu, "unknown");
}

TEST_F(MachineTest, NamesTheProcessor) {
  Write("/proc/cpuinfo", "processor\t: 0\nmodel name\t: Some CPU @ 2.00GHz\nflags\t\t: fpu\n");
  EXPECT_EQ(ReadMachine(root_).cpu, "Some CPU @ 2.00GHz");
}

TEST_F(MachineTest, FindsThePmuAndItsUserAccess) {
  Write("/sys/bus/event_source/devices/software/type", "1");
  Write("/sys/bus/event_source/devices/cpu/rdpmc", "1");
  const Machine machine = ReadMachine(root_);
  EXPECT_EQ(machine.pmu, "cpu");
  EXPECT_EQ(machine.user_access, 1);
}

TEST_F(MachineTest, FindsAnArmPmu) {
  Write("/sys/bus/event_source/devices/armv8_pmuv3_0/type", "8");
  Write("/proc/sys/kernel/perf_user_access", "0");
  const Machine machine = ReadMachine(root_);
  EXPECT_EQ(machine.pmu, "armv8_pmuv3_0");
  EXPECT_EQ(machine.user_access, 0);
}

TEST_F(MachineTest, KnowsAVirtualMachineAndPrivilege) {
  Write("/proc/cpuinfo", "flags\t\t: fpu hypervisor\n");
  Write("/proc/self/status", "CapEff:\t0000004000000000\n");  // CAP_PERFMON
  const Machine machine = ReadMachine(root_);
  EXPECT_TRUE(machine.virtual_machine);
  EXPECT_TRUE(machine.privileged);
}

#if defined(__x86_64__)
TEST_F(MachineTest, AnInvariantTscNeedsBothFlags) {
  Write("/proc/cpuinfo", "flags\t\t: tsc constant_tsc\n");
  EXPECT_FALSE(ReadMachine(root_).invariant_tsc);
  Write("/proc/cpuinfo", "flags\t\t: tsc constant_tsc nonstop_tsc\n");
  EXPECT_TRUE(ReadMachine(root_).invariant_tsc);
}
#endif

TEST(Explain, NoPmuInAVirtualMachine) {
  const Machine machine{.pmu = "", .virtual_machine = true, .paranoid = 2};
  EXPECT_NE(Explain(kMissing, ENOENT, machine).find("virtual PMU"), std::string::npos);
  EXPECT_EQ(Explain(kOffered, ENOENT, machine).find("virtual PMU"), std::string::npos);
}

TEST(Explain, NotOnThisCpu) {
  const Machine machine{.pmu = "cpu", .virtual_machine = true, .paranoid = 2};
  EXPECT_NE(Explain(kMissing, ENOENT, machine).find("this CPU does not count"), std::string::npos);
}

TEST(Explain, ParanoidStatesWhatToSet) {
  EXPECT_NE(Explain(kOffered, EACCES, {.paranoid = 2}).find("perf_event_paranoid=1"),
            std::string::npos);
  EXPECT_NE(Explain(kOffered, EACCES, {.paranoid = 4}).find("perf_event_paranoid=2"),
            std::string::npos);
  EXPECT_NE(Explain(kOffered, EPERM, {.paranoid = 2}).find("seccomp"), std::string::npos);
  EXPECT_EQ(Explain(kOffered, EPERM, {.privileged = true, .paranoid = 2}).find("sysctl"),
            std::string::npos);
}

}  // namespace
}  // namespace jprof::ptm
