// The gate: a planted call fails it, calls that vary do not, and times only beyond their interval.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "options/filter.h"
#include "reports/gate/gate_report.h"
#include "tests/unit/reports/combined_profile.h"

namespace jprof::reports {
namespace {

namespace fs = std::filesystem;

Result<MethodFilter> ParsePattern(std::string_view pattern) {
  auto filter = options::ParseFilter(pattern, options::Names::kMethods);
  if (!filter) return std::unexpected(filter.error());
  return [filter = *std::move(filter)](std::string_view class_name, std::string_view name) {
    return filter.AcceptsMethod(class_name, name);
  };
}

Condition Parsed(std::string_view text) {
  const auto condition = ParseCondition(text, ParsePattern);
  EXPECT_TRUE(condition) << text << ": " << (condition ? "" : condition.error().message);
  return condition.value_or(Condition{});
}

std::string Problem(std::string_view text) {
  const auto condition = ParseCondition(text, ParsePattern);
  if (condition) return "none";
  EXPECT_EQ(condition.error().kind, Error::Kind::kWrongUse);
  return condition.error().message;
}

TEST(GateCondition, HasAMetricASubjectAndABound) {
  const Condition plain = Parsed("  calls   > 0% ");
  EXPECT_EQ(plain.text, "calls   > 0%");
  EXPECT_EQ(plain.metric, "calls");
  EXPECT_EQ(plain.each, Condition::Each::kNone);
  EXPECT_FALSE(plain.of || plain.in);
  EXPECT_EQ(plain.kind, Condition::Kind::kPercent);
  EXPECT_EQ(plain.bound, 0);
  const Condition full = Parsed("time of each com.acme.*.find in com.acme.Main > +2.5ms");
  EXPECT_EQ(full.each, Condition::Each::kMethod);
  EXPECT_EQ(full.of->text, "com.acme.*.find");
  EXPECT_EQ(full.in->text, "com.acme.Main");
  EXPECT_EQ(full.kind, Condition::Kind::kChange);
  EXPECT_EQ(full.bound, 2.5e6);
  EXPECT_EQ(full.unit, "ns");
  EXPECT_EQ(Parsed("calls of A.<init> > 3%").of->text, "A.<init>");
  EXPECT_EQ(Parsed("calls of each context in A > 3%").each, Condition::Each::kContext);
  EXPECT_FALSE(Parsed("calls of each method > 3%").of);
  EXPECT_FALSE(Parsed("calls of * > 3%").of);
  EXPECT_EQ(Parsed("calls > 12k").kind, Condition::Kind::kValue);
  EXPECT_EQ(Parsed("calls > 12k").bound, 12000);
  EXPECT_EQ(Parsed("calls > -5%").bound, -0.05);
}

TEST(GateCondition, SaysWhatIsWrong) {
  for (const auto& [text, said] : {
           std::pair{"", "it has no bound; write for example 'calls > 0%'"},
           {"calls", "it has no bound"},
           {"calls >", "it has no bound"},
           {"> 3%", "it begins with a metric"},
           {"calls > many", "'many' is no bound; write for example 3%, +10 or 250ms"},
           {"calls >= 3%", "'= 3%' is no bound"},
           {"calls > 3 parsecs", "there is no unit 'parsecs'"},
           {"calls > nan%", "'nan%' is no bound"},
           {"calls > +inf%", "'+inf%' is no bound"},
           {"calls > 1e999%", "'1e999%' is no bound"},
           {"calls of > 3%", "a pattern of methods belongs behind 'of'"},
           {"calls in > 3%", "a pattern of methods belongs behind 'in'"},
           {"calls of a+ > 3%", "there is no pattern after a + or -"},
           {"calls von A > 3%", "'von' is not understood"},
           {"calls of A B > 3%", "'B' is not understood"},
       }) {
    EXPECT_NE(Problem(text).find(said), std::string::npos) << text << ": " << Problem(text);
    EXPECT_NE(Problem(text).find("--fail-if '"), std::string::npos) << text;
  }
}

// Profiles on disk, which go with the test.
class Gate : public testing::Test {
 protected:
  ~Gate() override {
    for (const fs::path& directory : directories_) fs::remove_all(directory);
  }

  model::Source Source(StackProfile profile) {
    const fs::path directory = fs::path(testing::TempDir()) /
                               fmt::format("gate-{}-{}.jprof", getpid(), directories_.size());
    directories_.push_back(directory);
    fs::remove_all(directory);
    profile.Write(directory);
    Result<profile::Reader> reader = profile::Reader::Open(directory.string());
    EXPECT_TRUE(reader);
    return {.reader = std::move(*reader)};
  }

  model::Input Runs(std::vector<StackProfile> counted, std::vector<StackProfile> sampled = {}) {
    model::Combined combined = {
        .meta = {}, .directory = "made", .counted = Source(counted.front()), .sampled = {}};
    for (size_t i = 1; i < counted.size(); ++i) combined.recounted.push_back(Source(counted[i]));
    for (const StackProfile& one : sampled) combined.sampled.push_back(Source(one));
    return combined;
  }

  // Judges one condition.
  ConditionVerdict Judged(model::Input base, model::Input now, std::string_view text) {
    LoadAndJudge(std::move(base), std::move(now), {Parsed(text)});
    return verdict_.conditions.empty() ? ConditionVerdict() : verdict_.conditions.front();
  }

  void LoadAndJudge(model::Input base, model::Input now, std::vector<Condition> conditions) {
    auto data = LoadGate(base, now);
    ASSERT_TRUE(data) << data.error().message;
    data_.emplace(std::move(*data));
    auto verdict = Judge(*data_, conditions, 10);
    ASSERT_TRUE(verdict) << verdict.error().message;
    verdict_ = std::move(*verdict);
  }

  std::string ErrorOf(model::Input base, model::Input now, std::string_view text) {
    auto data = LoadGate(base, now);
    if (!data) return data.error().message;
    const auto verdict = Judge(*data, {Parsed(text)}, 10);
    if (verdict) return "none";
    EXPECT_EQ(verdict.error().kind, Error::Kind::kWrongUse);
    return verdict.error().message;
  }

  std::string Printed(PrintGate* print) {
    const auto text = PrintedText([&](Output& out) -> Result<void> {
      print({.data = *data_, .verdict = verdict_, .names = model::NameForm::kShort}, out);
      return {};
    });
    return text.value_or("");
  }

  std::vector<std::string> Names(const std::vector<GateItem>& items) {
    std::vector<std::string> names;
    for (const GateItem& item : items) names.push_back(data_->tree.names[item.name]);
    return names;
  }

  std::optional<GateData> data_;
  Verdict verdict_;

 private:
  std::vector<fs::path> directories_;
};

StackProfile Counted(const std::vector<std::pair<std::string, uint32_t>>& calls) {
  StackProfile profile = CountedStacks();
  for (const auto& [stack, count] : calls) profile.Call(stack, count);
  return profile;
}

StackProfile Sampled(const std::vector<std::pair<std::string, int64_t>>& samples) {
  StackProfile profile = SampledStacks();
  for (const auto& [stack, count] : samples) profile.Add(stack, count);
  return profile;
}

TEST_F(Gate, FindsOneMoreCallInEachRequest) {
  const StackProfile base = Counted({{"app/A.main", 1}, {"app/A.main app/A.handle", 100}});
  StackProfile more = base;
  more.Call("app/A.main app/A.handle app/A.audit", 100);
  EXPECT_FALSE(Judged(Source(base), Source(base), "calls > 0%").violated);
  const ConditionVerdict verdict = Judged(Source(base), Source(more), "calls > 0%");
  EXPECT_TRUE(verdict.violated);
  EXPECT_EQ(verdict.change.base.value, 101);
  EXPECT_EQ(verdict.change.now.value, 201);
  EXPECT_EQ(Names(verdict.methods), std::vector<std::string>{"app/A.audit()V"});
  EXPECT_EQ(Names(verdict.contexts), std::vector<std::string>{"app/A.audit()V"});
  EXPECT_FALSE(Judged(Source(more), Source(base), "calls > 0%").violated);
}

TEST_F(Gate, ComparesBoundsExactly) {
  const StackProfile base = Counted({{"app/A.f", 100}}), now = Counted({{"app/A.f", 105}});
  for (const auto& [text, violated] : {std::pair{"calls > 5%", false},
                                       {"calls > 4.9%", true},
                                       {"calls > +5", false},
                                       {"calls > +4", true},
                                       {"calls > 105", false},
                                       {"calls > 104", true},
                                       {"calls of app.A.g > 0", false},
                                       {"calls of app.A.f > 0%", true},
                                       {"calls of app.*.f > 0%", true},
                                       {"calls of each app.* > 0%", true}})
    EXPECT_EQ(Judged(Source(base), Source(now), text).violated, violated) << text;
}

TEST_F(Gate, FindsOneCallAmongBillions) {
  const StackProfile base = Counted({{"app/A.f", 2'000'000'000}, {"app/B.g", 2'000'000'000}});
  const StackProfile now = Counted({{"app/A.f", 2'000'000'000}, {"app/B.g", 2'000'000'001}});
  EXPECT_TRUE(Judged(Source(base), Source(now), "calls > 0%").violated);
  EXPECT_FALSE(Judged(Source(now), Source(base), "calls > 0%").violated);
}

TEST_F(Gate, SelectsByMethodAndByWhatIsAboveIt) {
  const StackProfile base = Counted({{"app/A.f app/B.g", 10}, {"app/C.h app/B.g", 10}});
  const StackProfile now = Counted({{"app/A.f app/B.g", 12}, {"app/C.h app/B.g", 8}});
  for (const auto& [text, violated] : {std::pair{"calls > 0%", false},
                                       {"calls of app.B.g > 0%", false},
                                       {"calls of app.B.g in app.A.f > 0%", true},
                                       {"calls in app.C > 0%", false},
                                       {"calls of each method > 0%", false},
                                       {"calls of each context > 0%", true},
                                       {"calls of each context in app.C > 0%", false}})
    EXPECT_EQ(Judged(Source(base), Source(now), text).violated, violated) << text;
}

TEST_F(Gate, KeepsOutWhatVariesBetweenRuns) {
  const auto run = [](uint32_t order) {
    return Counted({{"app/A.main", 1}, {"app/A.main app/A.equals", order}});
  };
  const ConditionVerdict verdict =
      Judged(Runs({run(5), run(7)}), Runs({run(9), run(9)}), "calls > 0%");
  EXPECT_FALSE(verdict.violated);
  ASSERT_EQ(verdict_.kept_out.size(), 1u);
  ASSERT_EQ(verdict_.kept_out[0].varies.size(), 1u);
  EXPECT_EQ(verdict_.kept_out[0].varies[0].runs[0].least, 5);
  EXPECT_EQ(verdict_.kept_out[0].varies[0].runs[0].most, 7);
  EXPECT_NE(Printed(PrintGateText).find("5 to 7"), std::string::npos) << Printed(PrintGateText);
  EXPECT_TRUE(Judged(Runs({run(5), run(5)}), Runs({run(9), run(9)}), "calls > 0%").violated);
}

TEST_F(Gate, ComparesCallsThatOnlyMoved) {
  const auto run = [](uint32_t first, uint32_t all) {
    return Counted({{"app/A.main", 1},
                    {"app/B.one app/A.work", first},
                    {"app/B.two app/A.work", all - first},
                    {"app/B.one", 1},
                    {"app/B.two", 1}});
  };
  EXPECT_FALSE(
      Judged(Runs({run(2, 9), run(3, 9)}), Runs({run(5, 9), run(1, 9)}), "calls > 0%").violated);
  EXPECT_TRUE(verdict_.kept_out[0].varies.empty());
  EXPECT_TRUE(
      Judged(Runs({run(2, 9), run(3, 9)}), Runs({run(5, 10), run(1, 10)}), "calls > 0%").violated);
}

TEST_F(Gate, KeepsOutCallsOfTheJvm) {
  const StackProfile base = Counted({{"app/A.main java/util/Map.get", 5}});
  StackProfile now = base;
  now.Call("app/A.main java/util/Map.get java/util/Map.hash", 5);
  now.Call("app/A.main java/lang/ClassLoader.loadClass app/Loader.find", 5);
  now.Call("app/A.main java/lang/invoke/LambdaForm$MH/0x12.invoke", 5);
  EXPECT_FALSE(Judged(Source(base), Source(now), "calls > 0%").violated);
  EXPECT_TRUE(Judged(Source(base), Source(now), "calls of java.util.Map.hash > 0%").violated);
  now.Call("app/A.main java/util/Map.get app/Key.hash", 1);
  EXPECT_TRUE(Judged(Source(base), Source(now), "calls > 0%").violated);
  StackProfile finalised = base;
  finalised.NextThread();
  std::strcpy(finalised.made.threads.back().name, "Finalizer");
  finalised.Call("app/A.finalize", 7);
  EXPECT_FALSE(Judged(Source(base), Source(finalised), "calls > 0%").violated);
  EXPECT_EQ(data_->sides[1].jvm_calls, 7);
}

TEST_F(Gate, MatchesWhatIsNumberedAnew) {
  const StackProfile base = Counted({{"app/A.lambda$main$3", 5},
                                     {"app/A$$Lambda$14/0x00007f.run", 5},
                                     {"jdk/proxy1/$Proxy12.call app/A.f", 5},
                                     {"app/Hidden/0x0001.run", 5}});
  const StackProfile now = Counted({{"app/A.lambda$main$4", 5},
                                    {"app/A$$Lambda/0x00008f.run", 5},
                                    {"jdk/proxy1/$Proxy7.call app/A.f", 5},
                                    {"app/Hidden/0x0002.run", 5}});
  EXPECT_FALSE(Judged(Source(base), Source(now), "calls of each context > 0%").violated);
}

TEST_F(Gate, WithOneRunEachNothingIsKnownToVary) {
  const StackProfile one = Counted({{"app/A.main", 2}});
  EXPECT_FALSE(Judged(Source(one), Source(one), "calls > 0%").violated);
  EXPECT_TRUE(verdict_.kept_out[0].is_unknown());
}

TEST_F(Gate, ATimeFailsOnlyBeyondItsInterval) {
  const auto runs = [&](int64_t samples) {
    return Runs({Counted({{"app/A.f", 1}})},
                {Sampled({{"app/A.f", samples}}), Sampled({{"app/A.f", samples + 5}})});
  };
  EXPECT_FALSE(Judged(runs(1000), runs(1005), "time > 0%").violated);
  EXPECT_FALSE(Judged(runs(1000), runs(1060), "time > 3%").violated);
  const ConditionVerdict verdict = Judged(runs(1000), runs(2000), "time > 3%");
  EXPECT_TRUE(verdict.violated);
  EXPECT_GT(verdict.change.relative.low, 0.03);
  EXPECT_NEAR(verdict.change.relative.value, 1, 0.01);
  EXPECT_TRUE(Judged(runs(1000), runs(2000), "time of app.A.f > 3%").violated);
  EXPECT_TRUE(Judged(runs(1000), runs(2000), "time > +100ms").violated);
  EXPECT_FALSE(Judged(runs(1000), runs(2000), "time > 10s").violated);
}

TEST_F(Gate, RefusesWhatCannotBeCompared) {
  const StackProfile counted = Counted({{"app/A.find", 5}});
  const auto of = [&](std::string_view text) {
    return ErrorOf(Source(counted), Source(counted), text);
  };
  EXPECT_NE(of("cals > 0%").find("neither profile has a metric 'cals'; did you mean 'calls'?"),
            std::string::npos);
  EXPECT_NE(of("calls of app.A.fnd > 0%").find("did you mean 'app.A.find'?"), std::string::npos);
  EXPECT_NE(of("calls > 5ms").find("calls is not in ns"), std::string::npos);
  EXPECT_NE(ErrorOf(Source(counted), Source(Counted({{"app/B.g", 1}})), "calls > 0%")
                .find("no method in common"),
            std::string::npos);
  const StackProfile sampled = Sampled({{"app/A.find", 50}});
  EXPECT_NE(ErrorOf(Source(counted), Source(sampled), "calls > 0%").find("has no calls"),
            std::string::npos);
  EXPECT_NE(ErrorOf(Source(sampled), Source(sampled), "time > 5").find("write 5ms"),
            std::string::npos);
}

TEST_F(Gate, PrintsEveryFormat) {
  StackProfile base = Counted({{"app/A.main", 1}});
  StackProfile now = base;
  now.Call("app/A.main app/A.<a&\"|b>", 3);
  LoadAndJudge(Source(base), Source(now),
               {Parsed("calls > 0%"), Parsed("calls of app.A.main > 0%")});
  const std::string text = Printed(PrintGateText);
  EXPECT_TRUE(text.starts_with("jprof gate: FAILED: 1 of 2 conditions is violated\n")) << text;
  EXPECT_NE(text.find("FAILED: calls > 0%: 1 -> 4 (+3, +300.00 %)"), std::string::npos) << text;
  EXPECT_NE(text.find("passed: calls of app.A.main > 0%: 1 -> 1 (no change)"), std::string::npos);
  const auto json = nlohmann::json::parse(Printed(PrintGateJson));
  EXPECT_FALSE(json["passed"].get<bool>());
  EXPECT_EQ(json["conditions"][0]["contexts"][0]["path"].size(), 2u);
  EXPECT_EQ(json["conditions"][0]["change"]["value"], 3);
  const std::string junit = Printed(PrintGateJunit);
  EXPECT_NE(junit.find("tests=\"2\" failures=\"1\""), std::string::npos) << junit;
  EXPECT_NE(junit.find("A.&lt;a&amp;&quot;|b&gt;"), std::string::npos) << junit;
  const std::string markdown = Printed(PrintGateMarkdown);
  EXPECT_NE(markdown.find("| **FAILED** | calls \\> 0% | 1 -\\> 4"), std::string::npos) << markdown;
  EXPECT_NE(markdown.find("A.\\<a\\&\"\\|b\\>"), std::string::npos) << markdown;
}

}  // namespace
}  // namespace jprof::reports
