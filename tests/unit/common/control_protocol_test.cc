#include "common/control_protocol.h"

#include <gtest/gtest.h>

#include <random>

namespace jprof::control {
namespace {

std::string Problem(std::string_view line) {
  const auto command = ParseRequest(line);
  return command ? "none" : command.error().message;
}

TEST(ControlProtocol, EveryCommandIsReadAsItWasWritten) {
  for (size_t i = 0; i < kCommandNames.size(); ++i) {
    const auto command = static_cast<Command>(i);
    const std::string line = Request(command);
    EXPECT_EQ(line, "jprof 1 " + std::string(kCommandNames[i]) + "\n");
    EXPECT_EQ(ParseRequest(line.substr(0, line.size() - 1)), command);
  }
}

TEST(ControlProtocol, WrongLinesAreExplained) {
  EXPECT_EQ(Problem("jprof 1 strat"), "there is no command 'strat'; did you mean start?");
  EXPECT_EQ(Problem("jprof 1 explode"),
            "there is no command 'explode'; use start, stop, flush, reset or status");
  EXPECT_EQ(Problem("jprof 1 "), "there is no command ''; use start, stop, flush, reset or status");
  EXPECT_EQ(Problem("jprof 1 start now"), "there is no command 'start now'; did you mean start?");
  EXPECT_EQ(Problem("jprof 2 start"),
            "the agent speaks version 1 of the protocol, not '2'; use the jprof of that version");
  for (const char* line : {"", " ", "GET / HTTP/1.1", "jprof1 start", " jprof 1 start"}) {
    EXPECT_EQ(Problem(line), "this is not a command of jprof") << line;
  }
}

TEST(ControlProtocol, MessagesHoldNoControlCharacters) {
  EXPECT_EQ(Problem("jprof 1 sta\x1b\nrt").find_first_of("\x1b\n"), std::string::npos);
}

TEST(ControlProtocol, FactsOfAnyBytesComeBack) {
  std::string all;
  for (int c = 1; c < 256; ++c) all += static_cast<char>(c);
  const std::vector<Field> fields = {
      {"mode", "scs"}, {"empty", ""}, {"out", "/a b/100%41\n=c"}, {"all", all}};
  const std::string text = JoinFields(fields);
  EXPECT_EQ(text.find_first_of("\n\r\t"), std::string::npos);
  const auto back = SplitFields(text);
  ASSERT_EQ(back.size(), fields.size());
  for (size_t i = 0; i < fields.size(); ++i) {
    EXPECT_EQ(back[i].key, fields[i].key);
    EXPECT_EQ(back[i].value, fields[i].value);
  }
}

TEST(ControlProtocol, AnyBytesMayBeSplit) {
  std::mt19937 chance(4);
  for (int i = 0; i < 1000; ++i) {
    std::string text(chance() % 64, '\0');
    for (char& c : text)
      c = "=% %4\n\xff"
          "ak"[chance() % 9];
    for (const Field& field : SplitFields(text)) EXPECT_LE(field.value.size(), text.size());
  }
}

TEST(ControlProtocol, FolderIsTheRuntimeFolderOrTmp) {
  EXPECT_EQ(FolderOf(7, "/run/user/7"), "/run/user/7/jprof-7");
  EXPECT_EQ(FolderOf(7, ""), "/tmp/jprof-7");
  EXPECT_EQ(FolderOf(7, "relative"), "/tmp/jprof-7");
  EXPECT_EQ(SocketName(123), "123.sock");
}

}  // namespace
}  // namespace jprof::control
