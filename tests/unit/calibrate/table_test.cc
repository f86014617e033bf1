#include "calibrate/model/table.h"

#include <gtest/gtest.h>

namespace jprof::calibrate {
namespace {

constexpr EventKind kEntry = EventKind::kEntry;

Table SampleTable() {
  Table table{.fingerprint = {{"cpu", "Xeon"}, {"jvm", "17.0.15"}},
              .made_at = "2026-01-02T03:04:05Z"};
  Metric time{.name = "time", .unit = "ns", .granularity = 26, .bias = 54.5};
  time.keys[*ParseKey("En-J-En-N")] = {1000, 30.5, 2.25, 28.25, 1, 12.5, 0.125, 0.75, 2.5, 3.5};
  time.keys[*ParseKey("Ex-r-Ex-R")] = {7, 26, 1, 25, 0, 13, -0.5};
  Metric count{.name = "PAPI_TOT_INS", .unit = "events"};
  count.keys[*ParseKey("En-I-Ex-I")] = {5, 60, 4, 56, 58, 3, 0};
  count.probes = {{'I', {50, 41, 39, 52, 0, 4}}, {'J', {45, 43, 44, 46, 2.5, 3}}};
  table.metrics = {time, count};
  return table;
}

std::string Replaced(std::string text, std::string_view from, std::string_view to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

void ExpectSame(const Overhead& a, const Overhead& b) {
  EXPECT_EQ(a.count, b.count);
  EXPECT_EQ(a.observed, b.observed);
  EXPECT_EQ(a.truth, b.truth);
  EXPECT_EQ(a.overhead, b.overhead);
  EXPECT_EQ(a.minimum, b.minimum);
  EXPECT_EQ(a.spread, b.spread);
  EXPECT_EQ(a.repeat, b.repeat);
  EXPECT_EQ(a.context, b.context);
  EXPECT_EQ(a.less, b.less);
  EXPECT_EQ(a.more, b.more);
}

TEST(Table, JsonRoundTrip) {
  const Table table = SampleTable();
  const auto back = FromJson(ToJson(table));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->fingerprint, table.fingerprint);
  EXPECT_EQ(back->made_at, table.made_at);
  ASSERT_EQ(back->metrics.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(back->metrics[i].name, table.metrics[i].name);
    EXPECT_EQ(back->metrics[i].unit, table.metrics[i].unit);
    EXPECT_EQ(back->metrics[i].granularity, table.metrics[i].granularity);
    EXPECT_EQ(back->metrics[i].bias, table.metrics[i].bias);
    ASSERT_EQ(back->metrics[i].keys.size(), table.metrics[i].keys.size());
    for (const auto& [key, value] : table.metrics[i].keys) {
      ExpectSame(back->metrics[i].keys.at(key), value);
    }
    ASSERT_EQ(back->metrics[i].probes.size(), table.metrics[i].probes.size());
    for (const auto& [type, probe] : table.metrics[i].probes) {
      const Probe& read = back->metrics[i].probes.at(type);
      EXPECT_EQ(read.Sum(), probe.Sum());
      EXPECT_EQ(read.exit_out, probe.exit_out);
      EXPECT_EQ(read.argument, probe.argument);
      EXPECT_EQ(read.result, probe.result);
    }
  }
}

TEST(Table, BadJsonNamesWhatIsWrong) {
  const std::string good = ToJson(SampleTable());
  const struct {
    std::string text, names;
  } cases[] = {
      {"", "calibration table is damaged"},
      {"[1,2]", "calibration table is damaged"},
      {good.substr(0, good.size() / 2), "calibration table is damaged"},
      {Replaced(good, "\"version\": 4", "\"version\": 9"), "version 9, this jprof reads 2 to 4"},
      {Replaced(good, "\"version\": 4", "\"version\": 1"), "version 1, this jprof reads 2 to 4"},
      {Replaced(good, "\"version\"", "\"ersion\""), "'version' not found"},
      {Replaced(good, "\"spread\"", "\"spred\""), "'spread' not found"},
      {Replaced(good, "En-J-En-N", "En-J-En-8"), "\"En-J-En-8\" is no transition"},
      {Replaced(good, "\"enter_in\"", "\"entre\""), "'enter_in' not found"},
      {Replaced(good, "\"count\": 1000", "\"count\": \"many\""), "must be number"},
  };
  for (const auto& c : cases) {
    const auto table = FromJson(c.text);
    ASSERT_FALSE(table) << c.text;
    EXPECT_NE(table.error().message.find(c.names), std::string::npos) << table.error().message;
  }
}

// Version 2 did not know the ends of what a probe can cost.
TEST(Table, AnOlderTableIsRead) {
  std::string text = Replaced(ToJson(SampleTable()), "\"version\": 4", "\"version\": 2");
  for (const std::string_view name : {"\"less\"", "\"more\"", "\"instructions\""}) {
    for (size_t at = text.find(name); at != std::string::npos; at = text.find(name))
      text.replace(at, name.size(), "\"x\"");
  }
  const auto table = FromJson(text);
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(table->version, 2);
  for (const auto& [key, value] : table->metrics[0].keys) {
    EXPECT_EQ(value.less, 0);
    EXPECT_EQ(value.more, 0);
    EXPECT_EQ(value.instructions, 0);
  }
  EXPECT_EQ(FromJson(ToJson(*table))->version, 2);
}

TEST(Table, TheEndsAreAnIntervalOf95Percent) {
  const Overhead ends = {.less = 1.959964, .more = 0.5};
  EXPECT_NEAR(ends.Systematic(), 1, 1e-6);
  const Overhead all = {.repeat = 3, .context = 4, .less = 0, .more = 12 * 1.959964};
  EXPECT_NEAR(all.Systematic(), 13, 1e-5);
}

// A transition takes at least the time of its instructions.
TEST(Table, InstructionsBoundTheTimeOfATransition) {
  const Key first = *ParseKey("En-J-En-N"), second = *ParseKey("Ex-J-Ex-J"),
            third = *ParseKey("En-I-Ex-I");
  Metric counted = {.name = "instructions", .unit = "instructions"};
  counted.keys[first] = {.truth = 24};
  counted.keys[second] = {.truth = -3};
  Metric time = {.name = "time", .unit = "ns"};
  time.keys[first] = {.observed = 30, .truth = 1, .overhead = 29};
  time.keys[second] = {.observed = 20, .truth = -0.5, .overhead = 20.5};
  time.keys[third] = {.observed = 10, .truth = -4, .overhead = 14};
  EXPECT_EQ(AddInstructions(counted, time), 2);
  EXPECT_EQ(time.keys[first].instructions, 24);
  EXPECT_EQ(time.keys[first].truth, 24 / kMostInstructionsPerTick);
  EXPECT_EQ(time.keys[first].overhead, 30 - 24 / kMostInstructionsPerTick);
  EXPECT_EQ(time.keys[second].instructions, 0);
  EXPECT_EQ(time.keys[second].truth, 0);
  EXPECT_EQ(time.keys[second].overhead, 20);
  EXPECT_EQ(time.keys[third].overhead, 14) << "not traced: as trained";
}

TEST(Table, FindsAMetricByName) {
  const Table table = SampleTable();
  ASSERT_NE(table.Find("PAPI_TOT_INS"), nullptr);
  EXPECT_EQ(table.Find("PAPI_TOT_INS")->unit, "events");
  EXPECT_EQ(table.Find("PAPI_TOT_CYC"), nullptr);
}

TEST(Table, RebasedMovesEveryOverheadByTheDifferenceOfTheBiases) {
  const Metric trained = SampleTable().metrics[0];
  const Metric metric = Rebased(trained, 50);
  EXPECT_EQ(metric.bias, 50);
  for (const auto& [key, value] : trained.keys) {
    EXPECT_EQ(metric.keys.at(key).overhead, value.overhead - 4.5);
    EXPECT_EQ(metric.keys.at(key).observed, value.observed - 4.5);
    EXPECT_EQ(metric.keys.at(key).truth, value.truth);
  }
}

Metric WithKeys(std::initializer_list<std::pair<const char*, double>> keys) {
  Metric metric;
  for (const auto& [text, overhead] : keys) metric.keys[*ParseKey(text)] = {.overhead = overhead};
  return metric;
}

TEST(Lookup, PrefersTheExactKey) {
  const Metric metric = WithKeys({{"En-J-En-N", 1}, {"En-j-En-N", 2}, {"Ex-J-En-N", 3}});
  const Found found = Lookup(metric, {kEntry, 'J', kEntry, 'N'});
  EXPECT_EQ(found.level, Level::kExact);
  EXPECT_EQ(found.value.overhead, 1);
}

TEST(Lookup, IgnoresStaticBeforeThePreviousEvent) {
  const Metric metric = WithKeys({{"En-J-En-N", 1}, {"Ex-j-En-n", 2}, {"En-I-En-I", 0}});
  for (const char running : {'J', 'j'}) {
    for (const char other : {'N', 'n'}) {
      const Found found = Lookup(metric, {kEntry, running, kEntry, other});
      EXPECT_EQ(found.value.overhead, 1);
      EXPECT_EQ(found.level, running == 'J' && other == 'N' ? Level::kExact : Level::kNonStatic);
    }
  }
}

TEST(Lookup, DropsThePreviousEvent) {
  const Metric metric = WithKeys({{"Ex-J-En-N", 5}, {"En-I-En-I", 1}});
  EXPECT_EQ(Lookup(metric, {kEntry, 'J', kEntry, 'N'}).level, Level::kAnyPrevious);
  EXPECT_EQ(Lookup(metric, {kEntry, 'J', kEntry, 'N'}).value.overhead, 5);
  EXPECT_EQ(Lookup(metric, {kEntry, 'j', kEntry, 'n'}).level, Level::kAnyPrevious);
}

TEST(Lookup, TakesTheSmallestOfTheEvent) {
  const Metric metric = WithKeys({{"Ex-J-En-N", 5}, {"En-I-En-I", 7}, {"En-I-Ex-I", 1}});
  const Found found = Lookup(metric, {kEntry, 'T', kEntry, 'R'});
  EXPECT_EQ(found.level, Level::kPerEvent);
  EXPECT_EQ(found.value.overhead, 5);
}

TEST(Lookup, SaysWhenItKnowsNothing) {
  const Metric metric = WithKeys({{"En-I-Ex-I", 1}});
  const Found found = Lookup(metric, {kEntry, 'J', kEntry, 'J'});
  EXPECT_EQ(found.level, Level::kNone);
  EXPECT_EQ(found.value.overhead, 0);
}

TEST(Differences, NamesEachPartThatDiffers) {
  const Fingerprint table = {{"cpu", "A"}, {"jvm", "17"}, {"metrics", "time"}};
  EXPECT_TRUE(Differences(table, table).empty());
  const Fingerprint profile = {{"cpu", "B"}, {"jvm", "17"}, {"probe", "jvmti"}};
  const std::vector<std::string> expected = {"cpu: table has A, profile has B",
                                             "metrics: table has time, profile has nothing",
                                             "probe: table has nothing, profile has jvmti"};
  EXPECT_EQ(Differences(table, profile), expected);
}

}  // namespace
}  // namespace jprof::calibrate
