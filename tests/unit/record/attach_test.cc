#include "record/attach/attach.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>
#include <thread>

#include "common/fd.h"
#include "record/attach/attached_agent.h"
#include "record/attach/heap_dump.h"

namespace jprof::record {
namespace {

TEST(LoadRequest, HasFiveWordsThatEndWithAZeroByte) {
  const auto request = LoadRequest("/lib/x.so", "SCS,OUT=/p");
  ASSERT_TRUE(request);
  EXPECT_EQ(*request, std::string("1\0load\0/lib/x.so\0true\0SCS,OUT=/p\0", 33));
}

TEST(LoadRequest, IsAsLongAsTheJvmAccepts) {
  EXPECT_TRUE(LoadRequest("/x", std::string(1024, 'o')));
  const auto longer = LoadRequest("/x", std::string(1025, 'o'));
  ASSERT_FALSE(longer);
  EXPECT_EQ(longer.error().kind, Error::Kind::kWrongUse);
  EXPECT_NE(longer.error().message.find("1025 bytes"), std::string::npos);
}

TEST(LoadAnswer, HasTheResultOfTheAgentInBothForms) {
  EXPECT_EQ(*ParseLoadAnswer("0\nreturn code: 0\n", 7), 0);
  EXPECT_EQ(*ParseLoadAnswer("0\nreturn code: -1\n", 7), -1);
  EXPECT_EQ(*ParseLoadAnswer("0\n0\n", 7), 0);
  EXPECT_EQ(*ParseLoadAnswer("0\n102\n", 7), 102);
}

std::string ErrorOf(std::string_view answer) {
  const auto parsed = ParseLoadAnswer(answer, 7);
  return parsed ? "" : parsed.error().message;
}

TEST(LoadAnswer, ARefusalIsTheTextOfTheJvm) {
  EXPECT_EQ(ErrorOf("0\n/x.so was not loaded.\n/x.so: wrong ELF class\n"),
            "process 7 cannot load the agent: /x.so was not loaded.?/x.so: wrong ELF class");
  EXPECT_EQ(ErrorOf("100\nDynamic agent loading is not enabled\n"),
            "process 7 cannot load the agent: Dynamic agent loading is not enabled");
}

TEST(LoadAnswer, WithoutThreadLocalStorageTheVariableIsNamed) {
  EXPECT_TRUE(
      ErrorOf("0\n/x.so was not loaded.\n/x.so: cannot allocate memory in static TLS block\n")
          .contains("GLIBC_TUNABLES=glibc.rtld.optional_static_tls="));
}

TEST(LoadAnswer, WhatIsCutOffIsNoSuccess) {
  for (const char* text : {"0", "0\n", "0\nretur", "0\nreturn code: ", "0\nreturn code: 0", "\n",
                           "x\n", "99999999999\n0\n", "101\n"})
    EXPECT_FALSE(ErrorOf(text).empty()) << text;
  EXPECT_EQ(ErrorOf("0\nreturn code: 0"), "process 7 gave no complete answer: '0?return code: 0'");
}

// A JVM that has `answer` at the other end; ends the stream if `closes`.
Result<std::string> Ask(std::string_view answer, bool closes, double seconds = 30) {
  std::array<int, 2> ends = {-1, -1};
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  const Fd ours(ends[0]);
  Fd theirs(ends[1]);
  std::string asked;
  std::thread jvm([&] {
    std::array<char, 64> bytes;
    const ssize_t got = read(theirs.get(), bytes.data(), bytes.size());
    asked.assign(bytes.data(), got > 0 ? static_cast<size_t>(got) : 0);
    for (const char c : answer) EXPECT_EQ(write(theirs.get(), &c, 1), 1);  // in small parts
    if (closes) theirs.Reset();
  });
  auto got = ExchangeRequest(ours.get(), "request", 7, seconds);
  jvm.join();
  EXPECT_EQ(asked, "request");
  return got;
}

TEST(ParseDumpAnswer, TakesWhatTheJvmWrote) {
  const auto good = ParseDumpAnswer(
      "0\nDumping heap to /tmp/x.hprof ...\nHeap dump file created [3772713 bytes in 0.2 secs]\n",
      7);
  EXPECT_TRUE(good);
}

TEST(ParseDumpAnswer, NamesTheReason) {
  const auto exists = ParseDumpAnswer("0\nDumping heap to /x ...\nFile exists\n", 7);
  EXPECT_EQ(exists.error().message,
            "process 7 cannot write its heap: Dumping heap to /x ...?File exists");
  EXPECT_EQ(ParseDumpAnswer("1\n", 7).error().message, "process 7 cannot write its heap: 1?");
}

TEST(ExchangeRequest, ReturnsEverythingUpToTheEnd) {
  EXPECT_EQ(*Ask("0\nreturn code: 0\n", true), "0\nreturn code: 0\n");
  const auto nothing = Ask("", true);
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().message, "process 7 ended or closed the connection before it answered");
}

TEST(ExchangeRequest, DoesNotWaitForever) {
  const auto silent = Ask("0\n", false, 0.05);
  ASSERT_FALSE(silent);
  EXPECT_EQ(silent.error().message, "process 7 did not answer within 0.05 s");
}

TEST(CheckSocket, AcceptsOnlyASocketOfTheUserAlone) {
  struct stat status = {};
  status.st_mode = S_IFSOCK | 0600;
  status.st_uid = 1000;
  EXPECT_TRUE(CheckSocket(status, 1000));
  EXPECT_FALSE(CheckSocket(status, 1001));
  status.st_mode = S_IFSOCK | 0660;
  EXPECT_FALSE(CheckSocket(status, 1000));
  status.st_mode = S_IFSOCK | 0602;
  EXPECT_FALSE(CheckSocket(status, 1000));
  status.st_mode = S_IFREG | 0600;
  EXPECT_FALSE(CheckSocket(status, 1000));
  status.st_mode = S_IFLNK | 0600;
  EXPECT_FALSE(CheckSocket(status, 1000));
}

TEST(Reply, IsTheAgentsTextOrItsError) {
  EXPECT_EQ(*ParseReply("ok\n", 0), "");
  EXPECT_EQ(*ParseReply("ok 12 threads\n", 0), "12 threads");
  EXPECT_EQ(ParseReply("the agent records already\n", -1).error().message,
            "the agent records already");
  EXPECT_EQ(ParseReply("okay\x1b\n", 0).error().message, "okay?");
  EXPECT_FALSE(ParseReply("ok\n", -1));
  EXPECT_EQ(ParseReply("", -1).error().message,
            "the agent did not start and did not say why (code -1)");
}

}  // namespace
}  // namespace jprof::record
