#include "record/agent/typed_options.h"

#include <gtest/gtest.h>

namespace jprof::record {
namespace {

TypedOptions Typed(options::Mode mode) {
  TypedOptions typed;
  typed.options.mode = mode;
  return typed;
}

std::string Problem(const TypedOptions& typed, std::string_view environment) {
  const auto resolved = Resolve(typed, environment);
  if (resolved) return "none";
  EXPECT_EQ(resolved.error().kind, Error::Kind::kWrongUse);
  return resolved.error().message;
}

TEST(TypedOptions, TheEnvironmentOverridesTheCommandLine) {
  TypedOptions typed = Typed(options::Mode::kScs);
  typed.options.rate = 200;
  const auto resolved = Resolve(typed, "SCS=TIME=1000000,OUT=a%2Cb");
  ASSERT_TRUE(resolved) << resolved.error().message;
  EXPECT_EQ(resolved->options.mode, options::Mode::kScs);
  EXPECT_EQ(resolved->options.out, "a,b");
  ASSERT_EQ(resolved->options.triggers.size(), 1u);
  EXPECT_EQ(resolved->options.triggers.front().every, 1'000'000u);
}

TEST(TypedOptions, TheTextForTheJvmParsesToTheResolvedOptions) {
  for (const char* environment : {"", "TIMER=posix", "SCS=TIME=100000+IDLE", "VERBOSE"}) {
    const auto resolved = Resolve(Typed(options::Mode::kScs), environment);
    ASSERT_TRUE(resolved) << resolved.error().message;
    const std::string text = options::ToString(resolved->options);
    const auto parsed = options::ParseAgentOptions(text, "");
    ASSERT_TRUE(parsed) << text << ": " << parsed.error().message;
    EXPECT_EQ(options::ToString(*parsed), text);
    EXPECT_EQ(parsed->triggers, resolved->options.triggers) << text;
  }
}

TEST(TypedOptions, AnErrorNamesWhereTheOptionWasGiven) {
  TypedOptions typed = Typed(options::Mode::kCalltree);
  EXPECT_EQ(Problem(typed, "TIMER=posix"),
            "JPROFOPTS: TIMER needs SCS or SAMPLE: only sampling has timers");
  EXPECT_NE(Problem(typed, "verbos").find("JPROFOPTS: there is no option 'verbos'"),
            std::string::npos);
  typed.options.timer = ptm::TimerSource::kPosix;
  EXPECT_EQ(Problem(typed, "SAMPLE"), "--timer needs --sample: only sampling has timers");
}

}  // namespace
}  // namespace jprof::record
