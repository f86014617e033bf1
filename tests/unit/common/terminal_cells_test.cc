#include "common/terminal_cells.h"

#include <gtest/gtest.h>

#include "common/wrapped_text.h"

namespace jprof {
namespace {

TEST(Cells, AreThoseOfATerminal) {
  EXPECT_EQ(Cells(""), 0u);
  EXPECT_EQ(Cells("load(..)"), 8u);
  EXPECT_EQ(Cells("\u00e4"), 1u);
  EXPECT_EQ(Cells("\u4e2d\u6587"), 4u);  // two wide characters
  EXPECT_EQ(Cells("\uff71"), 1u);        // a narrow one
  EXPECT_EQ(Cells("e\u0301"), 1u);       // an accent of its own
  EXPECT_EQ(Cells("\U0001f600"), 2u);    // an emoji
  EXPECT_EQ(Cells("\xff\x80"
                  "a"),
            3u);                     // not UTF-8
  EXPECT_EQ(Cells("\xe4\xb8"), 2u);  // cut off
}

TEST(Cells, ABeginningCutsNoCharacterApart) {
  EXPECT_EQ(FirstCells("\u4e2d\u6587", 3), "\u4e2d");
  EXPECT_EQ(FirstCells("\u4e2d\u6587", 1), "");
  EXPECT_EQ(FirstCells("e\u0301a", 1), "e\u0301");
  EXPECT_EQ(FirstCells("abc", 2), "ab");
  EXPECT_EQ(FirstCells("abc", 9), "abc");
}

TEST(Cells, LinesAreWrappedByThem) {
  const auto lines = WrappedLines("\u4e2d\u6587 \u4e2d\u6587 \u4e2d\u6587", 9);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0], "\u4e2d\u6587 \u4e2d\u6587");
}

}  // namespace
}  // namespace jprof
