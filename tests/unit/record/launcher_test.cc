#include "record/launcher.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include "record/interruption.h"

namespace jprof::record {
namespace {

Launch Shell(const char* script) { return {"/bin/sh", {"sh", "-c", script}, std::nullopt}; }

Outcome EndOf(HeldProgram& program) {
  for (;;) {
    program.AwaitEnd(1000);
    if (const auto outcome = program.Ended()) return *outcome;
  }
}

// A signal that comes before the program is executed does what it does to the program alone, and
// Release is not killed by writing to nobody (SIGPIPE).
TEST(HeldProgram, ASignalBeforeReleaseEndsItAsTheSignalDoes) {
  const Interruption ours;
  for (const int number : {SIGTERM, SIGINT, SIGKILL}) {
    auto program = HeldProgram::Start(Shell("exit 0"));
    ASSERT_TRUE(program);
    program->Signal(number);
    siginfo_t info;  // it has ended, and is not reaped
    ASSERT_EQ(waitid(P_PID, static_cast<id_t>(program->pid()), &info, WEXITED | WNOWAIT), 0);
    EXPECT_TRUE(program->Release());
    EXPECT_EQ(EndOf(*program).signal, number);
  }
  EXPECT_EQ(Interruption::Number(), 0);
}

TEST(HeldProgram, AnIgnoredSignalBeforeReleaseDoesNothing) {
  const auto before = signal(SIGTERM, SIG_IGN);
  {
    const Interruption ours;
    auto program = HeldProgram::Start(Shell("kill -TERM $$; exit 5"));
    ASSERT_TRUE(program);
    program->Signal(SIGTERM);
    ASSERT_TRUE(program->Release());
    EXPECT_EQ(EndOf(*program).status, 5);
  }
  signal(SIGTERM, before);
}

TEST(HeldProgram, ItsStatusIsKnownWhereSigchldIsIgnored) {
  const auto before = signal(SIGCHLD, SIG_IGN);
  auto program = HeldProgram::Start(Shell("exit 6"));
  ASSERT_TRUE(program);
  ASSERT_TRUE(program->Release());
  EXPECT_EQ(EndOf(*program).status, 6);
  signal(SIGCHLD, before);
}

TEST(HeldProgram, IsNotExecutedWithoutRelease) {
  int pid = 0;
  {
    auto program = HeldProgram::Start(Shell("exit 0"));
    ASSERT_TRUE(program);
    pid = program->pid();
  }
  EXPECT_EQ(kill(pid, 0), -1);
}

}  // namespace
}  // namespace jprof::record
