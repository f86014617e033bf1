#include "record/run/program_runs.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "common/procfs.h"
#include "record/run/pipe.h"

namespace jprof::record {
namespace {

namespace fs = std::filesystem;
using Output = profile::Run::Output;

Launch Script(const std::string& script) { return {"/bin/sh", {"sh", "-c", script}, std::nullopt}; }

std::string AllOf(const Fd& fd) {
  std::string text;
  char bytes[4096];
  for (ssize_t got; (got = read(fd.get(), bytes, sizeof(bytes))) > 0;)
    text.append(bytes, static_cast<size_t>(got));
  return text;
}

// The number of bytes that can be read without waiting for more.
bool HasData(const Fd& fd) {
  pollfd state = {fd.get(), POLLIN, 0};
  return poll(&state, 1, 0) == 1 && (state.revents & POLLIN) != 0;
}

class Program : public testing::Test {
 protected:
  void SetUp() override { fs::create_directory(directory_); }
  void TearDown() override { fs::remove_all(directory_); }

  // What a run of `script` printed when it read `input` as its standard input.
  std::string PrintedBy(ProgramInput& input, const std::string& script) {
    const Fd printed = File("printed", O_WRONLY);
    const auto given = input.Begin();
    EXPECT_TRUE(given) << given.error().message;
    if (!given) return "";
    EXPECT_TRUE(record::Run(Script(script), {.input = *given, .output = printed.get()}));
    input.End();
    return Contents("printed");
  }

  ProgramOutput::Comparison RunTo(ProgramOutput& output, const std::string& script) {
    const auto given = output.Begin();
    EXPECT_TRUE(given);
    EXPECT_TRUE(record::Run(Script(script), {.output = *given}));
    return output.End();
  }

  // Like RunTo, where the standard output of this process is `fd`.
  ProgramOutput::Comparison RunToFile(ProgramOutput& output, int fd, const std::string& script) {
    const auto given = output.Begin();
    EXPECT_TRUE(given);
    EXPECT_LT(*given, 0);
    EXPECT_TRUE(record::Run(Script(script), {.output = fd}));
    return output.End();
  }

  Fd File(const std::string& name, int flags, const std::string& text = "") {
    const fs::path path = directory_ / name;
    std::ofstream(path) << text;
    return Fd(open(path.c_str(), flags | O_CLOEXEC));
  }
  std::string Contents(const std::string& name) {
    std::ostringstream text;
    text << std::ifstream(directory_ / name).rdbuf();
    return text.str();
  }

  const fs::path directory_ =
      fs::temp_directory_path() / ("jprof-program-runs-" + std::to_string(getpid()));
  const Fd errors_{open("/dev/null", O_WRONLY | O_CLOEXEC)};
};

TEST(RunWithStreams, GivesTheProgramOtherDescriptors) {
  auto input = MakePipe(), output = MakePipe();
  ASSERT_EQ(write(input->write.get(), "abc", 3), 3);
  input->write.Reset();
  const auto outcome =
      record::Run(Script("cat"), {.input = input->read.get(), .output = output->write.get()});
  ASSERT_TRUE(outcome);
  output->write.Reset();
  EXPECT_EQ(AllOf(output->read), "abc");
}

TEST(RunWithStreams, MeasuresCpuTimeOfTheProgramAndItsChildren) {
  const auto idle = record::Run(Script("sleep 0.2"));
  const auto busy =
      record::Run(Script("(i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done); true"));
  ASSERT_TRUE(idle && busy);
  EXPECT_GE(idle->wall_seconds, 0.2);
  EXPECT_LT(idle->cpu_seconds, idle->wall_seconds);
  EXPECT_GT(busy->cpu_seconds, idle->cpu_seconds);
  EXPECT_EQ(busy->interruption, 0);
}

TEST(RunWithStreams, ReportsASignalThatAsksToStop) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    const auto outcome = record::Run(Script(fmt::format(
        "trap 'exit 9' {}; kill -{} $PPID; while :; do sleep 0.01; done", number, number)));
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->status, 9);
    EXPECT_EQ(outcome->interruption, number == SIGQUIT ? 0 : number);
  }
}

TEST(RunWithStreams, AnIgnoredSignalIsNoInterruption) {
  const auto before = signal(SIGHUP, SIG_IGN);
  const auto outcome = record::Run(Script("kill -HUP $PPID; sleep 0.1; exit 3"));
  signal(SIGHUP, before);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->status, 3);
  EXPECT_EQ(outcome->interruption, 0);
}

TEST_F(Program, EveryRunReadsAFileFromItsFirstPosition) {
  const Fd file = File("in", O_RDONLY, "skipped\none\ntwo\n");
  lseek(file.get(), 8, SEEK_SET);
  ProgramInput input(file.get());
  for (int run = 0; run < 3; ++run) {
    const auto given = input.Begin();
    ASSERT_TRUE(given);
    EXPECT_LT(*given, 0);  // the program inherits the file itself
    auto pipe = MakePipe();
    ASSERT_TRUE(record::Run(Script("cat"), {.input = file.get(), .output = pipe->write.get()}));
    input.End();
    pipe->write.Reset();
    EXPECT_EQ(AllOf(pipe->read), "one\ntwo\n") << run;
  }
  EXPECT_EQ(input.RepeatNote(), "");
}

TEST_F(Program, EveryRunReadsTheSameBytesOfAPipe) {
  auto pipe = MakePipe();
  const std::string text(300'000, 'x');  // more than a pipe holds
  std::thread writer([&] {
    for (size_t at = 0; at < text.size();)
      at += static_cast<size_t>(write(pipe->write.get(), text.data() + at, text.size() - at));
    pipe->write.Reset();
  });
  ProgramInput input(pipe->read.get());
  for (int run = 0; run < 3; ++run) EXPECT_EQ(PrintedBy(input, "cat"), text) << run;
  writer.join();
}

TEST_F(Program, EveryRunReadsTheSameBytesOfASocket) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const Fd ours(ends[0]), theirs(ends[1]);
  ASSERT_EQ(write(ours.get(), "text", 4), 4);
  shutdown(ours.get(), SHUT_WR);
  ProgramInput input(theirs.get());
  EXPECT_EQ(PrintedBy(input, "cat"), "text");
  EXPECT_EQ(PrintedBy(input, "cat"), "text");
}

// The input of the first run does not end; it and the later runs end nevertheless.
TEST_F(Program, AnInputThatStaysOpenDoesNotKeepARunFromEnding) {
  auto pipe = MakePipe();
  ASSERT_EQ(write(pipe->write.get(), "line\nmore\n", 10), 10);
  ProgramInput input(pipe->read.get());
  EXPECT_EQ(PrintedBy(input, "read word; echo $word"), "line\n");
  EXPECT_EQ(PrintedBy(input, "read word; echo $word"), "line\n");
  EXPECT_EQ(PrintedBy(input, "cat"), "line\nmore\n");
}

TEST_F(Program, AnInputThatTheProgramDoesNotReadDoesNotKeepItFromEnding) {
  auto pipe = MakePipe();
  fcntl(pipe->write.get(), F_SETFL, O_NONBLOCK);
  const std::string text(1 << 20, 'x');
  while (write(pipe->write.get(), text.data(), text.size()) > 0) {
  }
  ProgramInput input(pipe->read.get());
  EXPECT_EQ(PrintedBy(input, "echo done"), "done\n");
  EXPECT_EQ(PrintedBy(input, "echo done"), "done\n");
}

TEST_F(Program, AStoredInputCannotBeWritten) {
  auto pipe = MakePipe();
  ASSERT_EQ(write(pipe->write.get(), "text", 4), 4);
  pipe->write.Reset();
  ProgramInput input(pipe->read.get());
  EXPECT_EQ(PrintedBy(input, "cat"), "text");
  EXPECT_EQ(PrintedBy(input, "(echo bad >&0) 2>/dev/null; cat"), "text");
  EXPECT_EQ(PrintedBy(input, "cat"), "text");
}

TEST_F(Program, AClosedInputIsPassedOn) {
  ProgramInput input(1'000'000);
  const auto given = input.Begin();
  ASSERT_TRUE(given);
  EXPECT_LT(*given, 0);
  input.End();
}

TEST_F(Program, OutputToAPipeArrivesOnceForEachRunAndIsCompared) {
  auto pipe = MakePipe();
  {
    ProgramOutput output(pipe->write.get(), errors_.get());
    EXPECT_EQ(RunTo(output, "echo same").output, Output::kUnknown);  // the first run
    EXPECT_EQ(RunTo(output, "echo same").output, Output::kEqual);
    const auto other = RunTo(output, "echo other");
    EXPECT_EQ(other.output, Output::kDiffers);
    EXPECT_EQ(other.note, "");
    EXPECT_EQ(RunTo(output, "echo same; echo same").output, Output::kDiffers);
    EXPECT_EQ(RunTo(output, "true").output, Output::kDiffers);
    EXPECT_EQ(RunTo(output, "printf 'sa'; sleep 0.01; echo me").output, Output::kEqual);
  }
  pipe->write.Reset();
  EXPECT_EQ(AllOf(pipe->read), "same\nsame\nother\nsame\nsame\nsame\n");
}

TEST_F(Program, LargeOutputArrivesCompletely) {
  auto pipe = MakePipe();
  size_t length = 0;
  std::thread reader([&] { length = AllOf(pipe->read).size(); });
  {
    ProgramOutput output(pipe->write.get(), errors_.get());
    RunTo(output, "yes | head -c 1000000");
    EXPECT_EQ(RunTo(output, "yes | head -c 1000000").output, Output::kEqual);
  }
  pipe->write.Reset();
  reader.join();
  EXPECT_EQ(length, 2'000'000u);
}

// The reader closes the pipe: the program's writes fail as they would without jprof.
TEST_F(Program, AReaderThatClosesThePipeEndsTheProgramsOutput) {
  auto pipe = MakePipe();
  pipe->read.Reset();
  ProgramOutput output(pipe->write.get(), errors_.get());
  const auto given = output.Begin();
  ASSERT_TRUE(given);
  const auto outcome = record::Run(Script("exec yes"), {.output = *given});
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->signal, SIGPIPE);
  const auto compared = output.End();
  EXPECT_EQ(compared.output, Output::kUnknown);
  EXPECT_EQ(compared.note, "its reader has closed it");
}

// A process that a run leaves behind keeps the pipe open: the run ends, and what the process writes
// meanwhile still arrives.
TEST_F(Program, AProcessLeftBehindDoesNotKeepTheRunFromEnding) {
  auto pipe = MakePipe();
  const Fd gate(open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  {
    ProgramOutput output(pipe->write.get(), errors_.get());
    const std::string late = fmt::format(
        "echo now; (while ! [ -e '{0}/go' ]; do sleep 0.01; done; echo late; touch '{0}/done') &",
        directory_.string());
    EXPECT_EQ(RunTo(output, late).note, "");
    EXPECT_TRUE(HasData(pipe->read));
    File("go", O_RDONLY);
    while (!fs::exists(directory_ / "done")) std::this_thread::yield();
    EXPECT_EQ(RunTo(output, "echo now").output, Output::kEqual);
  }
  pipe->write.Reset();
  std::string text = AllOf(pipe->read);
  std::erase(text, '\n');
  EXPECT_TRUE(text == "nowlatenow" || text == "nownowlate") << text;
}

TEST_F(Program, WhatEachRunWroteToAFileIsCompared) {
  for (const int append : {0, O_APPEND}) {
    const Fd file = File("out", O_WRONLY | append, append ? "before\n" : "");
    ProgramOutput output(file.get(), errors_.get());
    EXPECT_EQ(RunToFile(output, file.get(), "echo same").output, Output::kUnknown);
    EXPECT_EQ(RunToFile(output, file.get(), "echo same").output, Output::kEqual);
    EXPECT_EQ(RunToFile(output, file.get(), "echo else").output, Output::kDiffers);
    EXPECT_EQ(Contents("out"), (append ? "before\n" : "") + std::string("same\nsame\nelse\n"));
  }
}

TEST_F(Program, AFileThatBecameShorterIsNotCompared) {
  const Fd file = File("out", O_WRONLY | O_APPEND, "before\n");
  ProgramOutput output(file.get(), errors_.get());
  EXPECT_EQ(RunToFile(output, file.get(), fmt::format(": > '{}/out'", directory_.string())).note,
            "the file became shorter");
  EXPECT_EQ(RunToFile(output, file.get(), "echo").note, "the file became shorter");
}

TEST_F(Program, DevicesAndAStreamSharedWithStandardErrorAreNotCompared) {
  const auto note = [](int fd, int error) {
    ProgramOutput output(fd, error);
    const auto given = output.Begin();
    EXPECT_TRUE(given && *given < 0);
    const auto compared = output.End();
    EXPECT_EQ(compared.output, Output::kUnknown);
    return compared.note;
  };
  auto pipe = MakePipe();
  EXPECT_EQ(note(errors_.get(), 2), "a device");
  EXPECT_EQ(note(pipe->write.get(), pipe->write.get()), "standard error goes to the same place");
  EXPECT_EQ(note(1'000'000, 2), "it is closed");
  const Fd terminal(posix_openpt(O_RDWR | O_NOCTTY));
  if (terminal) {
    EXPECT_EQ(note(terminal.get(), 2), "a terminal");
    EXPECT_NE(ProgramInput(terminal.get()).RepeatNote(), "");
  }
}

TEST(OutputSum, DependsOnTheBytesAndNotOnTheParts) {
  OutputSum whole, parts, other, empty;
  whole.Add("abc");
  parts.Add("a");
  parts.Add("bc");
  other.Add("abd");
  EXPECT_EQ(whole, parts);
  EXPECT_NE(whole, other);
  EXPECT_NE(whole, empty);
}

}  // namespace
}  // namespace jprof::record
