#include "record/attach/jvm_watch.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/temporary_directory.h"

namespace jprof::record {
namespace {

namespace fs = std::filesystem;

// A proc file system with the processes that a test writes into it.
class JvmWatchTest : public testing::Test {
 protected:
  void Write(int pid, const char* file, std::string_view text) {
    const fs::path folder = fs::path(root_) / std::to_string(pid);
    fs::create_directories(folder);
    std::ofstream(folder / file) << text;
  }
  void Start(int pid, int parent, std::string_view command) {
    Write(pid, "status", "Name:\tx\nPPid:\t" + std::to_string(parent) + "\n");
    Write(pid, "cmdline", std::string(command) + '\0');
    Write(pid, "environ", "A=b");
    Write(pid, "maps", "00400000-00452000 r-xp 00000000 08:02 1 /bin/sh\n");
  }
  void LoadVm(int pid) {
    Write(pid, "maps", "00400000-00452000 r-xp 00000000 08:02 1 /jdk/lib/server/libjvm.so\n");
  }
  std::vector<uint32_t> Seen() const {
    std::vector<uint32_t> pids;
    for (const SeenJvm& jvm : watch_.seen()) pids.push_back(jvm.pid);
    return pids;
  }

  const TemporaryDirectory made_{"watch"};
  const std::string root_ = made_.path();
  JvmWatch watch_{"libjprof.so", root_};
};

TEST_F(JvmWatchTest, JvmsBelowTheCommandAreSeenOnce) {
  Start(10, 1, "sh");
  Start(11, 10, "script");
  Start(12, 11, "java");
  Start(20, 1, "java");  // of somebody else
  LoadVm(20);
  watch_.Look(10);
  EXPECT_EQ(Seen(), std::vector<uint32_t>());
  LoadVm(12);
  watch_.Look(10);
  watch_.Look(10);
  ASSERT_EQ(Seen(), std::vector<uint32_t>{12});
  EXPECT_EQ(watch_.seen()[0].command, std::vector<std::string>{"java"});
}

TEST_F(JvmWatchTest, AProcessThatExecutesAJvmOrIsUsedAgainIsSeen) {
  Start(10, 1, "sh");
  watch_.Look(10);
  Start(10, 1, "java");
  LoadVm(10);
  watch_.Look(10);
  EXPECT_EQ(Seen(), std::vector<uint32_t>{10});
  Start(11, 10, "java");
  LoadVm(11);
  watch_.Look(10);
  fs::remove_all(fs::path(root_) / "11");
  watch_.Look(10);
  Start(11, 1, "java");  // another process, of somebody else
  LoadVm(11);
  watch_.Look(10);
  EXPECT_EQ(Seen(), (std::vector<uint32_t>{10, 11}));
}

TEST_F(JvmWatchTest, TheTextNamesTheReason) {
  Start(10, 1, std::string("java\0Main", 9));
  LoadVm(10);
  watch_.Look(10);
  EXPECT_TRUE(UnprofiledText(watch_.seen().at(0))
                  .starts_with("10 java Main was not profiled: it was started without "
                               "JAVA_TOOL_OPTIONS"))
      << UnprofiledText(watch_.seen().at(0));
  Start(11, 10, "java");
  Write(11, "environ", std::string("A=b\0JAVA_TOOL_OPTIONS=-agentpath:/x/libjprof.so=a\0", 50));
  LoadVm(11);
  watch_.Look(10);
  EXPECT_EQ(UnprofiledText(watch_.seen().at(1)),
            "11 java was not profiled: the agent did not start in it (the reason is above)");
}

}  // namespace
}  // namespace jprof::record
