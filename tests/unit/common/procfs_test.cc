#include "common/procfs.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "common/fd.h"

namespace jprof::procfs {
namespace {

namespace fs = std::filesystem;

// A proc file system with the files that a test writes into it.
class ProcfsTest : public testing::Test {
 protected:
  ProcfsTest() {
    std::string made = (fs::temp_directory_path() / "jprof-procfs-XXXXXX").string();
    root_ = mkdtemp(made.data());
  }
  ~ProcfsTest() override { fs::remove_all(root_); }

  void Write(const std::string& path, std::string_view text) {
    fs::create_directories(fs::path(root_ + "/" + path).parent_path());
    std::ofstream(root_ + "/" + path) << text;
  }

  std::string root_;
};

TEST_F(ProcfsTest, ListsProcessesAndThreadsAscending) {
  for (const char* path : {"10/task/10/comm", "10/task/9/comm", "9/comm", "self/task/7/comm",
                           "12a/comm", "99999999999/comm"})
    Write(path, "x\n");
  EXPECT_EQ(Processes(root_), (std::vector<uint32_t>{9, 10}));
  EXPECT_EQ(Threads(10, root_), (std::vector<uint32_t>{9, 10}));
  EXPECT_EQ(Threads(kSelf, root_), (std::vector<uint32_t>{7}));
  EXPECT_TRUE(Threads(11, root_).empty());
  EXPECT_TRUE(Exists(9, root_));
  EXPECT_FALSE(Exists(11, root_));
  EXPECT_EQ(Owner(9, root_), geteuid());
  EXPECT_EQ(Owner(11, root_), std::nullopt);
}

TEST_F(ProcfsTest, NamesOfThreadsMayHaveBlanksAndNewlines) {
  Write("5/task/6/comm", "a b\nc\n");
  EXPECT_EQ(ThreadName(5, 6, root_), "a b\nc");
  EXPECT_EQ(ThreadName(5, 7, root_), "");
}

TEST_F(ProcfsTest, WordsAreSplitAtZeros) {
  Write("5/cmdline", std::string_view("java\0-cp\0\0Main\0", 15));
  EXPECT_EQ(CommandLine(5, root_), (std::vector<std::string>{"java", "-cp", "", "Main"}));
  EXPECT_TRUE(CommandLine(6, root_).empty());
  Write("5/environ", std::string_view("XHOME=/x\0HOME=/home/me\0EMPTY=", 29));
  EXPECT_EQ(EnvironmentAtStart(5, "HOME", root_), "/home/me");
  EXPECT_EQ(EnvironmentAtStart(5, "EMPTY", root_), "");
  EXPECT_EQ(EnvironmentAtStart(5, "HOM", root_), "");
}

TEST_F(ProcfsTest, ReadsAStatus) {
  Write("5/status",
        "Name:\tPPid: 7\nPPid:\t4\nUid:\t1\t2\t3\t4\nNSpid:\t5\t70\t1\n"
        "CapEff:\t000001ffffffffff\n");
  const Status status = ReadStatus(5, root_);
  EXPECT_EQ(status.parent, 4u);
  EXPECT_EQ(status.user, 2u);
  EXPECT_EQ(status.own_pid, 1u);
  EXPECT_EQ(status.capabilities, 0x1ffffffffffu);
}

TEST_F(ProcfsTest, AStatusHasTheStateTheGroupAndTheCaughtSignals) {
  const Status status = ParseStatus(
      "State:\tT (stopped)\nGid:\t1\t12\t3\t4\nSigIgn:\t000000000000ffff\n"
      "SigCgt:\t2000000181005ccf\nSigBlk:\t0000000000008000\n");
  EXPECT_TRUE(status.Blocks(SIGSTKFLT));
  EXPECT_FALSE(status.Blocks(SIGTERM));
  EXPECT_EQ(status.state, 'T');
  EXPECT_EQ(status.group, 12u);
  EXPECT_TRUE(status.Catches(SIGQUIT));
  EXPECT_TRUE(status.Catches(SIGHUP));
  EXPECT_FALSE(status.Catches(SIGTRAP));
  EXPECT_TRUE(status.Catches(62));
  EXPECT_FALSE(status.Catches(64));
  EXPECT_FALSE(ParseStatus("").Catches(SIGQUIT));
}

TEST_F(ProcfsTest, TimesComeFromTheStatLine) {
  const long tick = sysconf(_SC_CLK_TCK);
  Write("uptime", "100.25 3.00\n");
  Write("5/stat", fmt::format("5 (a ) b) S 1 5 5 0 -1 0 0 0 0 0 {} {} 7 7 20 0 1 0 {} 9 9\n",
                              2 * tick, tick, 40 * tick));
  const auto times = ReadTimes(5, root_);
  ASSERT_TRUE(times);
  EXPECT_DOUBLE_EQ(times->running, 60);
  EXPECT_DOUBLE_EQ(times->cpu, 3);
  EXPECT_FALSE(ReadTimes(6, root_));
}

TEST_F(ProcfsTest, SharesFilesOnlyWithTheSameRootAndMountNamespace) {
  for (const char* path : {"self/ns/mnt", "self/root/x", "5/ns/mnt", "6/root/x"}) Write(path, "");
  fs::create_directory_symlink(root_ + "/self/root", root_ + "/5/root");
  fs::create_directory(root_ + "/6/ns");
  fs::create_symlink(root_ + "/self/ns/mnt", root_ + "/6/ns/mnt");
  EXPECT_FALSE(SharesFiles(5, root_));  // another mount namespace
  EXPECT_FALSE(SharesFiles(6, root_));  // another root directory
  EXPECT_FALSE(SharesFiles(7, root_));
  fs::remove(root_ + "/5/ns/mnt");
  fs::create_symlink(root_ + "/self/ns/mnt", root_ + "/5/ns/mnt");
  EXPECT_TRUE(SharesFiles(5, root_));
  EXPECT_TRUE(SharesFiles(static_cast<uint32_t>(getpid())));
}

TEST_F(ProcfsTest, AStatusOfNoProcessIsEmpty) {
  const Status status = ReadStatus(5, root_);
  EXPECT_EQ(status.user, std::nullopt);
  EXPECT_EQ(status.parent, 0u);
  EXPECT_EQ(status.own_pid, 0u);
  EXPECT_EQ(ParseStatus("Uid:\n").user, std::nullopt);
  EXPECT_EQ(ParseStatus("Uid:\t1\n").user, std::nullopt);
}

TEST(Procfs, FindsTheStartTimeBehindAnyName) {
  EXPECT_EQ(ParseStartTime("7 (a) b) (c) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20"),
            4711u);
  EXPECT_EQ(ParseStartTime("7 (a) S 1 2 3"), std::nullopt);
  EXPECT_EQ(ParseStartTime(""), std::nullopt);
}

TEST_F(ProcfsTest, StateAndCpuTimeOfAProcess) {
  Write("7/stat", "7 (a) b) S 1 2 3 4 5 6 7 8 9 10 150 50 0 0 20 0 1 0 4711 20\n");
  Write("8/stat", "8 (a) Z 1 2 3 4 5 6 7 8 9 10 1 0 0 0 20 0 1 0 4711 20\n");
  EXPECT_TRUE(Runs(7, root_));
  EXPECT_FALSE(Runs(8, root_)) << "a zombie";
  EXPECT_FALSE(Runs(9, root_));
  EXPECT_EQ(CpuNanos(7, root_), 200'000'000'000u / static_cast<uint64_t>(sysconf(_SC_CLK_TCK)));
  EXPECT_EQ(CpuNanos(9, root_), 0u);
}

TEST(Procfs, ParsesMaps) {
  const auto maps = ParseMaps(
      "00400000-00452000 r-xp 00002000 08:02 173521      /usr/bin/a b\n"
      "7f0000000000-7f0000001000 rw-p 00000000 00:00 0 \n"
      "7f0000001000-7f0000002000 rwxp 00000000 00:00 0\n"
      "7f0000003000-7f0000004000 r--s 00000000 fe:01 12   /tmp/x\\012y (deleted)");
  ASSERT_EQ(maps.size(), 4u);
  EXPECT_EQ(maps[0].start, 0x400000u);
  EXPECT_EQ(maps[0].end, 0x452000u);
  EXPECT_TRUE(maps[0].executable);
  EXPECT_EQ(maps[0].offset, 0x2000u);
  EXPECT_EQ(maps[0].inode, 173521u);
  EXPECT_EQ(maps[0].path, "/usr/bin/a b");
  EXPECT_FALSE(maps[1].executable);
  EXPECT_EQ(maps[1].path, "");
  EXPECT_TRUE(maps[2].executable);
  EXPECT_EQ(maps[2].path, "");
  EXPECT_EQ(maps[3].path, "/tmp/x\ny (deleted)");
}

TEST(Procfs, SkipsDamagedLinesOfMaps) {
  for (const char* line : {"", "x", "1-", "1-2", "2-1 r-xp 0 0:0 0", "1-2 r-x", "1-2 r-xp",
                           "1-2 r-xp 0 00:00", "1-2 r-xp 0 0000 0", "-1-2 r-xp 0 00:00 0",
                           "1-2 r-xp 0 00:00 x", "11111111111111111-2 r-xp 0 00:00 0"}) {
    EXPECT_EQ(ParseMaps(std::string(line) + "\n1-2 r-xp 0 0:0 3 /good\n").size(), 1u) << line;
  }
}

TEST_F(ProcfsTest, AnErrorNamesTheMaps) {
  const auto maps = ReadMaps(5, root_);
  ASSERT_FALSE(maps);
  EXPECT_EQ(maps.error().message, root_ + "/5/maps: No such file or directory");
}

TEST_F(ProcfsTest, ReadsTheMachine) {
  EXPECT_EQ(MachineMemory(root_), std::nullopt);
  EXPECT_EQ(CpuInfo("flags", root_), "");
  EXPECT_EQ(CpuModel(root_), "unknown");
  EXPECT_EQ(KernelSetting("perf_event_paranoid", root_), std::nullopt);
  Write("meminfo", "MemTotal:       16 kB\nMemAvailable:    3 kB\n");
  Write("cpuinfo", "model\t\t: 85\nmodel name\t: Some CPU @ 2.00GHz\nflags\t\t: fpu tsc\n");
  Write("sys/kernel/perf_event_paranoid", "-1\n");
  EXPECT_EQ(MachineMemory(root_), 3072u);
  EXPECT_EQ(CpuModel(root_), "Some CPU @ 2.00GHz");
  EXPECT_EQ(CpuInfo("flags", root_), "fpu tsc");
  EXPECT_EQ(KernelSetting("perf_event_paranoid", root_), -1);
}

TEST_F(ProcfsTest, ReadsNoMoreThanItsBound) {
  Write("cpuinfo", std::string(kMaxSmallFile, '\n') + "flags : fpu\n");
  EXPECT_EQ(CpuInfo("flags", root_), "");
}

TEST_F(ProcfsTest, ADescriptorHasAPathThatOutlivesItsName) {
  Write("file", "text");
  const Fd file(open((root_ + "/file").c_str(), O_RDONLY | O_CLOEXEC));
  fs::remove(root_ + "/file");
  std::string text;
  std::ifstream(DescriptorPath(file.get())) >> text;
  EXPECT_EQ(text, "text");
}

TEST(Procfs, ReadsThisProcess) {
  const auto pid = static_cast<uint32_t>(getpid());
  const Status status = ReadStatus(kSelf);
  EXPECT_EQ(status.parent, static_cast<uint32_t>(getppid()));
  EXPECT_EQ(status.user, geteuid());
  const auto tid = static_cast<uint32_t>(syscall(SYS_gettid));
  EXPECT_EQ(ThreadName(pid, tid), ThreadName(kSelf, tid));
  EXPECT_FALSE(ThreadName(pid, tid).empty());
  const auto maps = ReadMaps(kSelf);
  ASSERT_TRUE(maps);
  const auto code = reinterpret_cast<uint64_t>(&ReadMaps);
  EXPECT_TRUE(std::ranges::any_of(*maps, [&](const Mapping& mapping) {
    return mapping.executable && mapping.start <= code && code < mapping.end;
  }));
}

}  // namespace
}  // namespace jprof::procfs
