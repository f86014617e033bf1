#include "jprof/hotspot/probe/compiled_probe.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace jprof::hotspot {
namespace {

#if defined(__x86_64__)

constexpr ProbeTargets kFar = {0x7f1234567890, 0x7f12345678f0};

TEST(CompiledProbe, TheAddressIsLoaded) {
  for (const uint64_t target : {kFar.entry, kFar.exit}) {
    std::vector<uint8_t> code(40, 0x90);
    EXPECT_FALSE(MentionsProbe(code.data(), code.size(), kFar));
    std::memcpy(code.data() + 32, &target, sizeof target);
    EXPECT_TRUE(MentionsProbe(code.data(), code.size(), kFar));
    EXPECT_FALSE(MentionsProbe(code.data(), code.size() - 1, kFar));
  }
}

TEST(CompiledProbe, TheFunctionIsCalled) {
  std::vector<uint8_t> code(40, 0xe8);
  const auto after = reinterpret_cast<uint64_t>(code.data()) + 35 + 5;
  for (const int32_t distance : {-70'000, 70'000}) {
    const ProbeTargets near = {after + static_cast<uint64_t>(int64_t{distance}), kFar.exit};
    std::memcpy(code.data() + 36, &distance, sizeof distance);
    EXPECT_TRUE(MentionsProbe(code.data(), code.size(), near));
    EXPECT_FALSE(MentionsProbe(code.data(), code.size() - 1, near));
    EXPECT_FALSE(MentionsProbe(code.data(), code.size(), kFar));
  }
}

#endif

}  // namespace
}  // namespace jprof::hotspot
