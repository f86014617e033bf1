// NoProcess, and that commands which read a process call it.
#include "record/run/no_process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "common/procfs.h"
#include "record/attach/attach_target.h"
#include "record/attach/control_client.h"
#include "record/count/cpi_counting.h"

namespace jprof::record {
namespace {

// A process that waits until the end of the test.
class NoProcessTest : public testing::Test {
 protected:
  NoProcessTest() : pid_(fork()) {
    if (pid_ != 0) return;
    for (;;) pause();
  }
  ~NoProcessTest() override {
    if (pid_ == 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  uint32_t pid() const { return static_cast<uint32_t>(pid_); }
  void End() {
    kill(pid_, SIGKILL);
    siginfo_t info;
    waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT);
  }
  void Reap() {
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

 private:
  pid_t pid_;
};

// While it exists, no descriptor can be opened.
class NoDescriptors {
 public:
  NoDescriptors() {
    getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit none = {0, before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
  }
  ~NoDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_ = {};
};

TEST_F(NoProcessTest, OnlyAProcessThatHasEndedDoesNotExist) {
  const std::string number = std::to_string(pid());
  EXPECT_EQ(NoProcess(pid(), EMFILE, "look").error().message,
            "cannot read /proc/" + number + ": Too many open files");
  EXPECT_EQ(NoProcess(pid(), EMFILE).error().kind, Error::Kind::kFailed);
  End();  // a zombie
  EXPECT_EQ(NoProcess(pid(), ENOENT).error().message,
            "there is no process " + number + " any more: it has ended, and its parent " +
                std::to_string(getpid()) + " has not waited for it yet (a zombie)");
  EXPECT_FALSE(FindTarget(pid()));
  const uint32_t ended = pid();
  Reap();
  EXPECT_EQ(NoProcess(ended, ENOENT, "look").error().message,
            "there is no process " + number + "; look");
  EXPECT_EQ(NoProcess(ended, EMFILE).error().kind, Error::Kind::kWrongUse);
}

TEST_F(NoProcessTest, CommandsDoNotDenyAProcessThatTheyCannotRead) {
  const std::string reason = "cannot read /proc/" + std::to_string(pid()) + ": Too many open files";
  const NoDescriptors none;
  EXPECT_EQ(FindTarget(pid()).error().message, reason);
  EXPECT_EQ(AskJvm(static_cast<pid_t>(pid()), control::Command::kStatus, 1).error().message,
            reason);
  EXPECT_EQ(CountCpiOfIntervals({}, pid(), 1, 1, nullptr).error().message, reason);
}

}  // namespace
}  // namespace jprof::record
