// Tests the memory that simulated control groups leave.
#include "common/control_group.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace jprof {
namespace {

namespace fs = std::filesystem;

// Makes a proc file system, and a directory `groups` at which it says that control groups are
// mounted.
class ControlGroupTest : public testing::Test {
 protected:
  ControlGroupTest() {
    std::string made = (fs::temp_directory_path() / "jprof-groups-XXXXXX").string();
    root_ = mkdtemp(made.data());
    Write("meminfo", "MemAvailable:    8000 kB\n");
  }
  ~ControlGroupTest() override { fs::remove_all(root_); }

  void Write(const std::string& path, std::string_view text) {
    fs::create_directories(fs::path(root_ + "/" + path).parent_path());
    std::ofstream(root_ + "/" + path) << text;
  }
  void Mount2(const std::string& group = "/") {
    Write("self/mountinfo",
          "23 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n41 31 0:38 " + group + " " + root_ +
              "/groups rw,relatime shared:9 master:1 - cgroup2 cgroup2 rw,nsdelegate\n");
  }
  void Mount1(const std::string& group = "/") {
    Write("self/mountinfo", "32 31 0:29 / " + root_ + "/cpus rw - cgroup cgroup rw,cpu,cpuacct\n" +
                                "35 31 0:32 " + group + " " + root_ +
                                "/groups rw - cgroup cgroup rw,memory\n" + "41 31 0:38 / " + root_ +
                                "/unified rw - cgroup2 cgroup2 rw\n");
  }

  std::string root_;
};

TEST_F(ControlGroupTest, WithoutGroupsTheMachineIsTheLimit) {
  EXPECT_EQ(MemoryLimit(root_), std::nullopt);
  EXPECT_EQ(AvailableMemory(root_), 8'192'000u);
  fs::remove(root_ + "/meminfo");
  EXPECT_EQ(AvailableMemory(root_), std::nullopt);
}

TEST_F(ControlGroupTest, AContainersLimitLessWhatIsUsed) {
  Mount2();
  Write("self/cgroup", "0::/\n");
  Write("groups/memory.max", "1000000\n");
  Write("groups/memory.current", "300000\n");
  EXPECT_EQ(MemoryLimit(root_), 1'000'000u);
  EXPECT_EQ(AvailableMemory(root_), 700'000u);
  Write("groups/memory.current", "1000001\n");
  EXPECT_EQ(AvailableMemory(root_), 0u);
}

TEST_F(ControlGroupTest, CacheThatTheKernelCanDropIsAvailable) {
  Mount2();
  Write("self/cgroup", "0::/\n");
  Write("groups/memory.max", "1000000\n");
  Write("groups/memory.current", "900000\n");
  Write("groups/memory.stat", "anon 100000\ninactive_file 600000\nactive_file 200000\n");
  EXPECT_EQ(AvailableMemory(root_), 700'000u);
}

TEST_F(ControlGroupTest, TheTightestGroupAboveLimits) {
  Mount2();
  Write("self/cgroup", "0::/a.slice/b c/d\n");
  Write("groups/a.slice/memory.max", "500000\n");
  Write("groups/a.slice/memory.current", "400000\n");
  Write("groups/a.slice/b c/memory.max", "max\n");
  Write("groups/a.slice/b c/memory.current", "10\n");
  Write("groups/a.slice/b c/d/memory.max", "300000\n");
  Write("groups/a.slice/b c/d/memory.current", "10\n");
  EXPECT_EQ(
      ControlGroups("memory", root_),
      (std::vector<std::string>{root_ + "/groups/a.slice/b c/d", root_ + "/groups/a.slice/b c",
                                root_ + "/groups/a.slice", root_ + "/groups"}));
  EXPECT_EQ(MemoryLimit(root_), 300'000u);
  EXPECT_EQ(AvailableMemory(root_), 100'000u);
}

TEST_F(ControlGroupTest, OfVersion1) {
  Mount1();
  Write("self/cgroup", "4:memory:/job\n1:cpu,cpuacct:/\n0::/\n");
  Write("groups/memory.limit_in_bytes", "9223372036854771712\n");
  Write("groups/memory.usage_in_bytes", "5\n");
  EXPECT_EQ(MemoryLimit(root_), std::nullopt);
  EXPECT_EQ(AvailableMemory(root_), 8'192'000u);
  Write("groups/job/memory.limit_in_bytes", "1000000\n");
  Write("groups/job/memory.usage_in_bytes", "900000\n");
  Write("groups/job/memory.stat", "inactive_file 5\ntotal_inactive_file 100000\n");
  EXPECT_EQ(MemoryLimit(root_), 1'000'000u);
  EXPECT_EQ(AvailableMemory(root_), 200'000u);
  EXPECT_EQ(ControlGroups("cpu", root_), std::vector<std::string>{root_ + "/cpus"});
}

// Without a namespace of control groups a container sees the host's path, but only its own group is
// mounted.
TEST_F(ControlGroupTest, AContainerWithTheHostsPath) {
  Mount1("/docker/1234");
  Write("self/cgroup", "4:memory:/docker/1234/in\n");
  EXPECT_EQ(ControlGroups("memory", root_),
            (std::vector<std::string>{root_ + "/groups/in", root_ + "/groups"}));
  for (const char* path : {"/docker/1234", "/docker/12345", "/other", "/../../x"}) {
    Write("self/cgroup", std::string("4:memory:") + path + "\n");
    EXPECT_EQ(ControlGroups("memory", root_), std::vector<std::string>{root_ + "/groups"}) << path;
  }
}

TEST_F(ControlGroupTest, DamagedFilesSetNoLimit) {
  Write("self/cgroup", "x\n:\n0::\n");
  for (const char* text : {"", "-", "1 2 3 / /x rw - cgroup2", "- cgroup2 cgroup2 rw", "\n\n \n"}) {
    Write("self/mountinfo", text);
    EXPECT_EQ(AvailableMemory(root_), 8'192'000u) << text;
  }
}

}  // namespace
}  // namespace jprof
