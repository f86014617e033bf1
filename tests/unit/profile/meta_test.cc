#include "profile/files/meta.h"

#include <gtest/gtest.h>

#include "profile/files/recording_meta.h"

namespace jprof::profile {
namespace {

Meta Full() {
  return {.jprof = "1.2.3",
          .mode = "scs",
          .pid = 42,
          .command = {"java", "Demo", "two words"},
          .cwd = "/tmp",
          .start = "2026-01-02T03:04:05Z",
          .options = {.text = "scs,rate=100",
                      .fold_recursion = true,
                      .tree_memory = 1ull << 33,
                      .threads = "+main",
                      .methods = "-java.*",
                      .focus = "app",
                      .distribution = {"+com.acme", "-com.acme.Cart.total*"},
                      .within = "com.acme.Server.handle",
                      .after = 1000,
                      .begins_paused = true,
                      .trace_mode = "wrap",
                      .trace_memory = 1ull << 20,
                      .train = true,
                      .timer = "posix",
                      .force_rate = true,
                      .interrupt_ns = 33'000,
                      .tprof = true,
                      .code = true},
          .metrics = {{.name = "time",
                       .unit = "ns",
                       .scale = 0.4761904761904762,
                       .kind = Metric::Kind::kTime},
                      {.name = "PAPI_TOT_INS", .unit = "events", .kind = Metric::Kind::kCount},
                      {.name = "ALLOCATED_BYTES",
                       .unit = "bytes",
                       .kind = Metric::Kind::kWeighted,
                       .period = {524'288, 0, "bytes"}},
                      {.name = "ALLOCATED_BYTES.samples",
                       .unit = "samples",
                       .kind = Metric::Kind::kSamples,
                       .period = {2'500'000, 1'000'000, "ns", Period::Clock::kElapsed}}},
          .probe = {"jvmti", "asked for"},
          .clock = {2.1e9, 26, 25.5, 40.25, 32},
          .machine = {"A CPU", "x86_64", "6.1", 2},
          .jvm = {"A VM", "17.0.1", "A vendor", "/jvm", "0123456789abcdef"},
          .fingerprint = {{"cpu", "A CPU"}, {"metrics", "time+PAPI_TOT_INS"}}};
}

Meta Parsed(std::string_view text, std::string* damage = nullptr) {
  Damages damages;
  Meta meta = ParseMeta(text, damages);
  if (damage != nullptr) *damage = damages.empty() ? "" : damages.Lines().front();
  return meta;
}

TEST(MetaTest, ComesBackAsItWasWritten) {
  std::string damage;
  EXPECT_EQ(Parsed(ToJson(Full()), &damage), Full());
  EXPECT_EQ(damage, "");
}

TEST(MetaTest, AnEmptyOneComesBackEmpty) { EXPECT_EQ(Parsed(ToJson(Meta{})), Meta{}); }

TEST(MetaTest, FieldsOfAnotherTypeKeepTheirDefaults) {
  std::string damage;
  const Meta meta = Parsed(
      R"({"jprof":1,"mode":[],"pid":-1,"command":"java","options":7,"probe":null,"clock":{"read_ticks":"x"},
                              "metrics":[5,{"name":"","scale":1,"kind":"new"}],"jvm":[],"fingerprint":{"cpu":3}})",
      &damage);
  Meta expected;
  expected.metrics = {{.name = "unnamed"}, {.name = "unnamed"}};
  expected.fingerprint = {{"cpu", ""}};
  EXPECT_EQ(meta, expected);
  EXPECT_EQ(damage, "meta.json: a metric has no usable scale: its raw values are printed: unnamed");
}

TEST(MetaTest, WhatIsNotAnObjectIsADamage) {
  std::string damage;
  for (const char* text : {"", "7", "[]", "{\"pid\":", "{}}"}) {
    EXPECT_EQ(Parsed(text, &damage), Meta{}) << text;
    EXPECT_NE(damage, "") << text;
  }
}

TEST(MetaTest, TextsAreFitToPrint) {
  Meta meta = Full();
  meta.command = {"a\x1b[31mb", "\xff"};
  EXPECT_EQ(Parsed(ToJson(meta)).command, (std::vector<std::string>{"a?[31mb", "\xef\xbf\xbd"}));
}

TEST(MetaTest, ATimedEventStandsForAllIntervalsButItsOwn) {
  EXPECT_EQ((Clock{.bracket_ticks = 32, .bracket_period = 32}).timer_overhead(), 31);
  EXPECT_EQ((Clock{.bracket_ticks = 32, .bracket_period = 1}).timer_overhead(), 0);
  EXPECT_EQ(Clock{.bracket_ticks = 32}.timer_overhead(), 0);
}

TEST(RecordingMetaTest, ComesBackAsItWasWritten) {
  const RecordingMeta meta = {.sampling = "time, 100 samples/s on each CPU",
                              .platform = "Linux 6.1",
                              .command = "app --x",
                              .process = 77,
                              .whole_machine = true,
                              .notes = {"a note", "another"}};
  EXPECT_EQ(ParseRecordingMeta(ToJson(meta)), meta);
}

TEST(RecordingMetaTest, FieldsOfAnotherTypeAreEmpty) {
  EXPECT_EQ(ParseRecordingMeta(R"({"sampling":1,"notes":[2,"a\u001bb"]})"),
            (RecordingMeta{.notes = {"", "a?b"}}));
  EXPECT_EQ(ParseRecordingMeta("[]"), std::nullopt);
  EXPECT_EQ(ParseRecordingMeta(""), std::nullopt);
}

}  // namespace
}  // namespace jprof::profile
