#include "record/run/launcher.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "record/run/interruption.h"

namespace jprof::record {
namespace {

Launch Shell(const std::string& script) { return {"/bin/sh", {"sh", "-c", script}, std::nullopt}; }

Outcome EndOf(HeldProgram& program) {
  for (;;) {
    program.AwaitEnd(1000);
    if (const auto outcome = program.Ended()) return *outcome;
  }
}

TEST(Run, ReturnsTheExitStatus) {
  const auto outcome = record::Run(Shell("exit 7"));
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->status, 7);
  EXPECT_EQ(outcome->signal, 0);
  EXPECT_EQ(outcome->ExitCode(), 7);
}

TEST(Run, ReturnsTheSignalThatEndedTheProgram) {
  const auto outcome = record::Run(Shell("kill -KILL $$"));
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->signal, SIGKILL);
  EXPECT_EQ(outcome->ExitCode(), 128 + SIGKILL);
}

TEST(Run, PassesSignalsOn) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    const auto outcome =
        record::Run(Shell(fmt::format("trap 'exit 9' {}; kill -{} $PPID; "
                                      "while :; do sleep 0.01; done",
                                      number, number)));
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->status, 9) << number;
  }
}

TEST(Run, LeavesTheSignalMaskAsItWas) {
  sigset_t before, after;
  sigprocmask(SIG_BLOCK, nullptr, &before);
  ASSERT_TRUE(record::Run(Shell("exit 0")));
  ASSERT_FALSE(record::Run({"/no/such/program", {"program"}, std::nullopt}));
  sigprocmask(SIG_BLOCK, nullptr, &after);
  for (const int number : {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT})
    EXPECT_EQ(sigismember(&before, number), sigismember(&after, number)) << number;
}

TEST(Run, AProgramThatCannotStartIsWrongUse) {
  const auto outcome = record::Run({"/no/such/program", {"program"}, std::nullopt});
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().kind, Error::Kind::kWrongUse);
  EXPECT_EQ(outcome.error().message, "cannot start /no/such/program: No such file or directory");
}

TEST(Run, SetsJavaToolOptionsForTheProgramOnly) {
  Launch launch = Shell("test \"$JAVA_TOOL_OPTIONS\" = '-a b'");
  launch.java_tool_options = "-a b";
  const auto outcome = record::Run(launch);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->status, 0);
  EXPECT_EQ(getenv("JAVA_TOOL_OPTIONS"), nullptr);
}

TEST(HeldProgram, AProgramThatCannotStartIsWrongUse) {
  auto program = HeldProgram::Start({"/no/such/program", {"program"}, std::nullopt});
  ASSERT_TRUE(program);
  const auto released = program->Release();
  ASSERT_FALSE(released);
  EXPECT_EQ(released.error().kind, Error::Kind::kWrongUse);
  EXPECT_EQ(released.error().message, "cannot start /no/such/program: No such file or directory");
  EXPECT_FALSE(program->Ended());
}

TEST(HeldProgram, AMovedProgramHasOneOwner) {
  auto program = HeldProgram::Start(Shell("exit 4"));
  ASSERT_TRUE(program);
  HeldProgram owner(*std::move(program));
  EXPECT_EQ(program->pid(), 0);
  ASSERT_TRUE(owner.Release());
  EXPECT_EQ(EndOf(owner).status, 4);
}

TEST(Interruption, PassesOnWhatOnlyThisProcessReceived) {
  const Interruption interruption;
  auto program = HeldProgram::Start(Shell("exec sleep 60"));
  ASSERT_TRUE(program);
  ASSERT_TRUE(program->Release());
  raise(SIGTERM);
  EXPECT_EQ(Interruption::Number(), SIGTERM);
  Interruption::PassTo(*program);
  EXPECT_EQ(Interruption::Number(), 0);
  EXPECT_EQ(EndOf(*program).signal, SIGTERM);
}

// A signal that arrives before the program is executed affects only the program, and Release does
// not fail with SIGPIPE if the program has ended.
TEST(HeldProgram, ASignalBeforeReleaseEndsItAsTheSignalDoes) {
  const Interruption interruption;
  for (const int number : {SIGTERM, SIGINT, SIGKILL}) {
    auto program = HeldProgram::Start(Shell("exit 0"));
    ASSERT_TRUE(program);
    program->Signal(number);
    siginfo_t info;  // it has ended, but is not reaped
    ASSERT_EQ(waitid(P_PID, static_cast<id_t>(program->pid()), &info, WEXITED | WNOWAIT), 0);
    EXPECT_TRUE(program->Release());
    EXPECT_EQ(EndOf(*program).signal, number);
  }
  EXPECT_EQ(Interruption::Number(), 0);
}

TEST(HeldProgram, AnIgnoredSignalBeforeReleaseDoesNothing) {
  const auto before = signal(SIGTERM, SIG_IGN);
  {
    const Interruption interruption;
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
