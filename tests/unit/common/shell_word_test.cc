#include "common/shell_word.h"

#include <gtest/gtest.h>

namespace jprof {
namespace {

TEST(ShellWord, IsQuotedWhereItHasToBe) {
  EXPECT_EQ(ShellWord("dir/app-1.jprof"), "dir/app-1.jprof");
  EXPECT_EQ(ShellWord("a;b"), "'a;b'");
  EXPECT_EQ(ShellWord("$(id) x"), "'$(id) x'");
  EXPECT_EQ(ShellWord("it's"), "'it'\\''s'");
  EXPECT_EQ(ShellWord("~"), "'~'");
  EXPECT_EQ(ShellWord(""), "''");
  EXPECT_EQ(ShellWord("-o"), "./-o");
  EXPECT_EQ(QuotedWord("-cp"), "-cp");
  EXPECT_EQ(QuotedWord("a b"), "'a b'");
  EXPECT_EQ(QuotedWord(""), "''");
}

}  // namespace
}  // namespace jprof
