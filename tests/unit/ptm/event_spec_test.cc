#include "ptm/event_spec.h"

#include <gtest/gtest.h>

namespace jprof::ptm {
namespace {

TEST(EventSpec, EncodesInHexWithTheNameLast) {
  const EventSpec event{"PAPI_TOT_INS", 4, 0xc0, 2, 0, kExcludeKernel | kExcludeHypervisor};
  EXPECT_EQ(EncodeMetric(event), "raw:4:c0:2:0:6:PAPI_TOT_INS");
}

TEST(EventSpec, ComesBackAsItWas) {
  const EventSpec event{"perf::X:u=1+2,3%:k",  0xffffffff, ~0ull, 1,
                        0x8000000000000000ull, kExcludeAll};
  const std::string text = EncodeMetric(event);
  EXPECT_EQ(text.find_first_of("+,= "), std::string::npos) << text;  // separators of option strings
  const auto decoded = DecodeMetric(text);
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(*decoded, event);
}

TEST(EventSpec, RefusesWhatIsNoEncodedMetric) {
  for (const char* text :
       {"", "raw:", "PAPI_TOT_INS", "raw:1:2:3:4:5", "raw:1:2:3:4:5:", "raw:1:2:3:4:zz:n",
        "raw:1::3:4:5:n", "raw:100000000:2:3:4:5:n", "raw:1:10000000000000000:3:4:5:n",
        "raw:1:2:3:4:20:n", "raw:1:2:3:4:5:n%2", "raw:1:2:3:4:5:n%zz", "raw:-1:2:3:4:5:n",
        "RAW:1:2:3:4:5:n"}) {
    const auto decoded = DecodeMetric(text);
    ASSERT_FALSE(decoded.has_value()) << text;
    EXPECT_EQ(decoded.error().kind, Error::Kind::kWrongUse);
    EXPECT_NE(decoded.error().message.find(text), std::string::npos);
  }
}

}  // namespace
}  // namespace jprof::ptm
