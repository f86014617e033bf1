#include "calibrate/model/key.h"

#include <gtest/gtest.h>

namespace jprof::calibrate {
namespace {

TEST(Key, WritesTheFormOfTheLiterature) {
  EXPECT_EQ(ToString({EventKind::kEntry, 'J', EventKind::kEntry, 'N'}), "En-J-En-N");
  EXPECT_EQ(ToString({EventKind::kExit, 'R', EventKind::kExit, 'r'}), "Ex-R-Ex-r");
}

TEST(Key, ReadsBackEveryKeyItWrites) {
  for (const EventKind previous : {EventKind::kEntry, EventKind::kExit}) {
    for (const EventKind event : {EventKind::kEntry, EventKind::kExit}) {
      for (const char running : std::string_view("IJRNijrn")) {
        for (const char other : std::string_view("IJRNTijrn?")) {
          const Key key{previous, running, event, other};
          EXPECT_EQ(ParseKey(ToString(key)), key);
        }
      }
    }
  }
}

TEST(Key, RefusesWhatIsNoKey) {
  for (const char* text : {"", "En-J-En", "En-J-En-NN", "en-J-En-N", "En-X-En-N", "En_J-En-N",
                           "Ex-J-Pop-N", "En-J-En-8"}) {
    EXPECT_EQ(ParseKey(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace jprof::calibrate
