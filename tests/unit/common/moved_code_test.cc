// Tests which anonymous memory is recognised as code of a file.
#include "common/moved_code.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace jprof::procfs {
namespace {

// The mappings with their file and offset, as one text.
std::string Named(std::string_view text) {
  std::vector<Mapping> maps = ParseMaps(text);
  NameMovedCode(maps);
  std::string named;
  for (const Mapping& m : maps)
    named += fmt::format("{:x} {} {:x}\n", m.start, m.path.empty() ? "-" : m.path, m.offset);
  return named;
}

TEST(NameMovedCode, TheMiddleOfASegment) {
  EXPECT_EQ(Named("1000-2000 r-xp 00001000 fe:01 7 /bin/app\n"
                  "2000-4000 r-xp 00000000 00:00 0\n"
                  "4000-5000 r-xp 00004000 fe:01 7 /bin/app\n"),
            "1000 /bin/app 1000\n2000 /bin/app 2000\n4000 /bin/app 4000\n");
}

TEST(NameMovedCode, AWholeSegmentInHugePages) {
  EXPECT_EQ(Named("200000-400000 r--p 00000000 fe:01 7 /bin/app\n"
                  "400000-800000 r-xp 00000000 00:0f 99 /anon_hugepage (deleted)\n"
                  "800000-801000 r--p 00600000 fe:01 7 /bin/app\n"),
            "200000 /bin/app 0\n400000 /bin/app 200000\n800000 /bin/app 600000\n");
}

TEST(NameMovedCode, AtTheEndOfASegmentTheCodeShowsTheOffset) {
  EXPECT_EQ(Named("1000-2000 r-xp 00001000 fe:01 7 /bin/app\n"
                  "2000-3000 r-xp 00000000 00:00 0\n"
                  "3000-4000 rw-p 00005000 fe:01 7 /bin/app\n"),
            "1000 /bin/app 1000\n2000 /bin/app 2000\n3000 /bin/app 5000\n");
}

TEST(NameMovedCode, OtherMemoryStaysAnonymous) {
  for (const char* text : {"1000-2000 r-xp 00001000 fe:01 7 /a\n2000-3000 rw-p 0 00:00 "
                           "0\n3000-4000 r-xp 00003000 fe:01 7 "
                           "/a\n",  // no code
                           "1000-2000 r-xp 00001000 fe:01 7 /a\n2000-3000 r-xp 0 00:00 "
                           "0\n3000-4000 r-xp 00003000 fe:01 8 "
                           "/b\n",  // two files
                           "1000-2000 r-xp 00001000 fe:01 7 /a\n2800-3000 r-xp 0 00:00 "
                           "0\n3000-4000 r-xp 00003000 fe:01 7 "
                           "/a\n",  // a gap
                           "1000-2000 r--p 00001000 fe:01 7 /a\n2000-3000 r-xp 0 00:00 "
                           "0\n3000-4000 rw-p 00009000 fe:01 7 "
                           "/a\n",  // the offsets do not fit
                           "1000-2000 r-xp 0 00:00 0\n"}) {
    EXPECT_NE(Named(text).find(" - 0\n"), std::string::npos) << Named(text);
  }
}

}  // namespace
}  // namespace jprof::procfs
