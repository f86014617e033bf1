#include <gtest/gtest.h>

#include "events/read/clock.h"

namespace jprof::events {
namespace {

TEST(TraceMetadata, HasTheClockAndTheProcess) {
  const TraceMetadata metadata = ParseMetadata(
      "clock {\n  freq = 2000000000;\n  offset_s = -5;\n  offset = 1000000000;\n};\n"
      "env {\n  process = 77;\n  closed = 1;\n};\n");
  EXPECT_EQ(metadata.process, 77u);
  EXPECT_TRUE(metadata.closed);
  const UnixTime time = TimeOf(metadata, 7'000'000'001);
  EXPECT_EQ(time.seconds, -1);
  EXPECT_EQ(time.nanos, 0u);
  EXPECT_EQ(TimeOf(metadata, 7'999'999'999).nanos, 499'999'999u);
}

TEST(TraceMetadata, MayBeAnything) {
  const TraceMetadata none = ParseMetadata("");
  EXPECT_FALSE(none.closed);
  EXPECT_EQ(TimeOf(none, 1'500'000'000).seconds, 1);
  const TraceMetadata zero = ParseMetadata(
      "\n  freq = 0;\n  offset_s = 9223372036854775807;\n  offset = 18446744073709551615;\n");
  EXPECT_LT(TimeOf(zero, UINT64_MAX).nanos, 1'000'000'000u);
}

}  // namespace
}  // namespace jprof::events
