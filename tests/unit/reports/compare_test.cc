// compare: what is the same is called so, what was planted is found, what is noise is marked as
// noise.
#include "reports/compare/compare.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "reports/print/html_page.h"
#include "tests/unit/reports/distribution_profile.h"
#include "tests/unit/reports/sampled_profile.h"

namespace jprof::reports {
namespace {

namespace fs = std::filesystem;

// Directories that go with the test.
class Compare : public testing::Test {
 protected:
  ~Compare() override {
    for (const fs::path& directory : directories_) fs::remove_all(directory);
  }

  template <typename Profile>
  model::Source Open(Profile profile, const std::string& name) {
    const fs::path directory = fs::path(testing::TempDir()) /
                               ("compare-" + name + "-" + std::to_string(getpid()) + ".jprof");
    directories_.push_back(directory);
    profile.Write(directory);
    Result<profile::Reader> reader = profile::Reader::Open(directory.string());
    EXPECT_TRUE(reader);
    return {
        .reader = std::move(*reader), .table = {}, .table_from = "table", .uncalibrated = "none"};
  }

  Result<Comparison> Two(auto a, auto b, const CompareOptions& options = {}) {
    model::Source source_a = Open(std::move(a), "a"), source_b = Open(std::move(b), "b");
    return CompareTwo(source_a, source_b, options);
  }

  std::vector<fs::path> directories_;
};

std::string TextOf(void (*print)(const Comparison&, const CompareOptions&, Output&),
                   const Comparison& what, const CompareOptions& options = {}) {
  char* text = nullptr;
  size_t size = 0;
  std::FILE* file = open_memstream(&text, &size);
  Output out(file);
  print(what, options, out);
  EXPECT_TRUE(out.Finish());
  std::fclose(file);
  std::string printed(text, size);
  std::free(text);
  return printed;
}

// Samples of `weights`, each context's number drawn: what sampling the same program twice does.
std::vector<int> Drawn(const std::vector<double>& weights, int samples, std::mt19937& random) {
  std::discrete_distribution<size_t> pick(weights.begin(), weights.end());
  std::vector<int> counts(weights.size());
  for (int i = 0; i < samples; ++i) ++counts[pick(random)];
  return counts;
}

std::vector<double> Weights(std::mt19937& random) {
  std::vector<double> weights(60);
  for (double& weight : weights) weight = static_cast<double>(1 + random() % 100);
  return weights;
}

TEST_F(Compare, AProfileWithItselfDoesNotDiffer) {
  const auto same = Two(SpreadSamples({10, 0, 500, 3}), SpreadSamples({10, 0, 500, 3}));
  ASSERT_TRUE(same) << same.error().message;
  EXPECT_EQ(same->contexts_beyond + same->methods_beyond, 0u);
  EXPECT_EQ(same->top.both, 3u);
  EXPECT_EQ(same->top.rank_either, 1);
  EXPECT_NE(TextOf(PrintText, *same).find("no differences"), std::string::npos);
  const auto measured =
      Two(RandomProfile(3, 2, 3000), RandomProfile(3, 2, 3000));  // measured, without any error
  ASSERT_TRUE(measured);
  EXPECT_EQ(measured->contexts_beyond + measured->methods_beyond, 0u);
}

TEST_F(Compare, NoiseIsMarkedAsNoise) {
  std::mt19937 random(5);
  size_t compared = 0, beyond = 0;
  for (int round = 0; round < 10; ++round) {
    const std::vector<double> weights = Weights(random);
    const auto both = Two(SpreadSamples(Drawn(weights, 2000, random)),
                          SpreadSamples(Drawn(weights, 5000, random)));
    ASSERT_TRUE(both);
    compared += both->contexts.size();
    beyond += both->contexts_beyond;
  }
  EXPECT_GT(compared, 500u);
  EXPECT_LT(static_cast<double>(beyond), 0.1 * static_cast<double>(compared));
  EXPECT_GT(beyond, 0u) << "intervals of 95 % that always hold are too wide";
}

TEST_F(Compare, WhatWasPlantedStandsFirst) {
  std::mt19937 random(6);
  for (int round = 0; round < 10; ++round) {
    std::vector<double> weights = Weights(random);
    weights[7] = 150;
    const auto before = Drawn(weights, 4000, random);
    weights[7] *= 2;
    const auto found = Two(SpreadSamples(before), SpreadSamples(Drawn(weights, 4000, random)));
    ASSERT_TRUE(found);
    EXPECT_EQ(PathText(found->tree, found->contexts[0].id, 5), "C.m7()V < C.main");
    EXPECT_EQ(found->tree.names[found->methods[0].id], "C.m7()V");
    EXPECT_FALSE(found->contexts[0].within);
    EXPECT_GT(found->contexts[0].change, 0);
  }
}

TEST_F(Compare, NativeFramesCountForTheirCaller) {
  const auto folded = Two(SpreadSamples({90, 30}), SpreadSamples({90, 30}, /*with_native=*/true));
  ASSERT_TRUE(folded);
  EXPECT_EQ(folded->contexts_beyond, 0u);
  EXPECT_EQ(folded->tree.folded[1].samples, 40);
  EXPECT_EQ(folded->contexts.size(), 2u);
}

// main of a thread calls f of a library, which calls g. With `java`, f is below a Java method.
profile::SyntheticProfile CountedFunctions(bool java) {
  profile::SyntheticProfile made;
  const size_t thread = made.AddThread("main", 1);
  if (java) made.Enter(thread, made.AddMethod("C", "main", "()V"), FrameKind::kJitted, 0);
  for (const char* address : {"0x10", "0x20"}) {
    made.Enter(thread, made.AddMethod("/nowhere/libx.so", address, "", profile::kMethodCode),
               FrameKind::kFunction, 100);
  }
  for (const int64_t time : {3000, 2000, 1000}) {
    if (java || time != 1000) made.Exit(thread, time);
  }
  return made;
}

TEST_F(Compare, TwoThatCountFunctionsAreComparedWithThem) {
  for (const bool java : {false, true}) {
    const auto same = Two(CountedFunctions(java), CountedFunctions(java));
    ASSERT_TRUE(same) << same.error().message;
    EXPECT_EQ(same->methods.size(), java ? 3u : 2u);
    EXPECT_EQ(same->tree.folded[0].value, 0);
    EXPECT_EQ(PathText(same->tree, same->contexts.back().id, 5),
              java ? "libx.so+0x20 < libx.so+0x10 < C.main" : "libx.so+0x20 < libx.so+0x10");
  }
}

TEST_F(Compare, TwoThatSampleAreComparedWithNativeFunctions) {
  const auto same = Two(SpreadSamples({90}, true), SpreadSamples({90}, true));
  ASSERT_TRUE(same) << same.error().message;
  EXPECT_EQ(same->tree.folded[0].value, 0);
  EXPECT_EQ(PathText(same->tree, same->contexts[1].id, 5), "libx.so+0x10 < C.m0 < C.main");
}

TEST_F(Compare, FunctionsAreFoldedWhereOneSamplesOrHasNone) {
  const auto counted_and_sampled = Two(CountedFunctions(true), SpreadSamples({90}, true));
  ASSERT_TRUE(counted_and_sampled) << counted_and_sampled.error().message;
  EXPECT_GT(counted_and_sampled->tree.folded[0].value, 0);
  EXPECT_EQ(counted_and_sampled->tree.folded[1].samples, 30);
}

// Frames with no method above them count for no method.
TEST_F(Compare, ThreadsWithoutMethodsAreOutsideNotFolded) {
  SampledProfile made = SpreadSamples({10});
  const profile::MethodId code =
      made.made.AddMethod("/nowhere/libx.so", "0x10", "", profile::kMethodCode);
  const size_t attached = made.made.AddThread("attached", 101);
  for (int i = 0; i < 90; ++i) made.Sample(attached, {{code, FrameKind::kFunction}}, {1});
  const auto both = Two(made, SpreadSamples({10}));
  ASSERT_TRUE(both) << both.error().message;
  EXPECT_EQ(both->sides[0].outside.samples, 90);
  EXPECT_EQ(both->tree.folded[0].samples, 0);
  EXPECT_EQ(TextOf(PrintText, *both).find(" folded "), std::string::npos);
}

// The same methods at the same shares, once measured and once sampled.
TEST_F(Compare, MeasuredAgainstSampled) {
  profile::SyntheticProfile measured;
  const profile::MethodId main = measured.AddMethod("C", "main", "()V");
  const size_t thread = measured.AddThread("main", 1);
  measured.Enter(thread, main, FrameKind::kJitted, 0);
  for (int i = 0; i < 4; ++i) {
    measured.Enter(thread, measured.AddMethod("C", "m" + std::to_string(i), "()V"),
                   FrameKind::kInterpreted, 0);
    measured.Exit(thread, (i + 1) * 100'000'000);
  }
  const auto agree = Two(measured, SpreadSamples({103, 196, 305, 398}));
  ASSERT_TRUE(agree) << agree.error().message;
  EXPECT_EQ(agree->contexts_beyond, 0u);
  EXPECT_EQ(agree->top.both, 4u);
  EXPECT_EQ(agree->top.rank_either, 1);
  const auto absolute =
      Two(measured, SpreadSamples({103, 196, 305, 800}), {.absolute = true});  // both are in ns
  ASSERT_TRUE(absolute) << absolute.error().message;
  EXPECT_EQ(absolute->contexts_beyond, 1u);
  EXPECT_NEAR(absolute->contexts[0].change, 400e6, 1);
}

TEST_F(Compare, TextAndJsonAndHtmlOfAPage) {
  const auto found = Two(SpreadSamples({100, 200, 0, 5}), SpreadSamples({250, 210, 40, 6}, true));
  ASSERT_TRUE(found);
  std::string text = TextOf(PrintText, *found);
  for (size_t side = 0; side < 2; ++side) {
    const std::string directory = directories_[side].string();
    for (size_t at; (at = text.find(directory)) != std::string::npos;)
      text.replace(at, directory.size(), side == 0 ? "a.jprof" : "b.jprof");
  }
  const fs::path golden = fs::path(__FILE__).parent_path() / "../../golden/compare.txt";
  if (std::getenv("JPROF_UPDATE_GOLDEN") != nullptr) std::ofstream(golden) << text;
  std::ostringstream expected;
  expected << std::ifstream(golden).rdbuf();
  EXPECT_EQ(text, expected.str());

  const auto page = nlohmann::json::parse(TextOf(PrintJson, *found));
  EXPECT_EQ(page["contexts"].size(), 4u);
  EXPECT_EQ(page["contexts"][0]["path"], nlohmann::json::parse(R"(["C.main()V","C.m1()V"])"));
  EXPECT_FALSE(page["contexts"][0]["within_error"]);
  EXPECT_EQ(page["profiles"][1]["in_methods"]["samples"], 506);
  const double total = page["methods"][0]["cumulative"]["a"]["value"];
  EXPECT_NEAR(total, 200.0 / 305, 1e-6);
}

TEST_F(Compare, NamesCannotBecomeMarkup) {
  SampledProfile evil(kTimeMetrics, 1);
  const profile::MethodId method =
      evil.made.AddMethod("</div><script>alert(1)</script>", "\"'&x", "()V");
  evil.Sample(evil.made.AddThread("main", 1), {{method}}, {1});
  const auto found = Two(evil, evil);
  ASSERT_TRUE(found);
  const std::string html = TextOf(PrintHtml, *found);
  EXPECT_EQ(html.find("<script>alert"), std::string::npos);
  EXPECT_NE(html.find("&lt;script&gt;alert(1)&lt;.script&gt;.&quot;&#39;&amp;x()"),
            std::string::npos);
  EXPECT_EQ(html.find("http://"), std::string::npos);
  EXPECT_EQ(html.find("https://"), std::string::npos);
}

TEST_F(Compare, ThePageHasTheQualityOfBothSides) {
  SampledProfile a(kTimeMetrics, 1), b(kTimeMetrics, 1);
  for (SampledProfile* side : {&a, &b}) {
    const profile::MethodId method = side->made.AddMethod("A", "a", "()V");
    side->Sample(side->made.AddThread("main", 1), {{method}}, {1});
  }
  b.made.header.finished = 0;
  const auto found = Two(a, b);
  ASSERT_TRUE(found);
  const std::string html = TextOf(PrintHtml, *found);
  for (const char* fact : {"<dt>quality</dt><dd>poor</dd>", "<dd>A: only 1 samples. ",
                           "<dd>B: not finished: still running, or killed. "})
    EXPECT_NE(html.find(fact), std::string::npos) << fact << "\n" << html;
}

TEST_F(Compare, FlatAgainstContextual) {
  SampledProfile made(kTimeMetrics, 1);
  std::vector<profile::MethodId> ids;
  for (const char* name : {"main", "a", "b", "hot", "trunk"})
    ids.push_back(made.made.AddMethod("C", name, "()V"));
  const size_t thread = made.made.AddThread("main", 1);
  const auto take = [&](std::vector<Frame> stack, int count) {
    for (int i = 0; i < count; ++i) made.Sample(thread, stack, {1});
  };
  take({{ids[0]}, {ids[4]}, {ids[1]}, {ids[3]}}, 300);
  take({{ids[0]}, {ids[4]}, {ids[2]}, {ids[3]}}, 100);
  take({{ids[0]}, {ids[4]}, {ids[2]}, {ids[3]}, {ids[2]}}, 50);  // recursion: b counts once
  take({{ids[0]}}, 50);
  model::Source source = Open(made, "flat");
  const auto flat = CompareWithin(source, {});
  ASSERT_TRUE(flat) << flat.error().message;
  const HotMethod& hot = flat->by_self[0];
  EXPECT_EQ(flat->tree.names[hot.name], "C.hot()V");
  EXPECT_NEAR(hot.self.value, 0.8, 1e-12);
  EXPECT_NEAR(hot.all.value, 0.9, 1e-12);
  ASSERT_EQ(hot.parts.size(), 2u);
  EXPECT_NEAR(hot.parts[0].share.value, 0.75, 1e-12);
  EXPECT_TRUE(hot.parts[0].share.low < 0.75 && hot.parts[0].share.low > 0.70);
  EXPECT_EQ(PathText(flat->tree, hot.parts[0].context, 5), "C.hot()V < C.a < C.trunk < C.main");
  ASSERT_EQ(flat->hidden.size(),
            2u);  // a has 60 % below it and nothing itself, as trunk has; main and b have some
  EXPECT_EQ(flat->tree.names[flat->hidden[0].name], "C.trunk()V");
  for (const HotMethod& method : flat->by_all) {
    if (flat->tree.names[method.name] != "C.b()V") continue;
    EXPECT_NEAR(method.all.value, 0.3, 1e-12);
  }
}

TEST_F(Compare, WhatWeighsIsCountedByItsSamples) {
  model::Source a = Open(DemoSamples(), "a"), b = Open(DemoSamples(), "b");
  const auto bytes = CompareTwo(a, b, {.metric = "ALLOCATED_BYTES"});
  ASSERT_TRUE(bytes) << bytes.error().message;
  EXPECT_EQ(bytes->sides[0].inside.samples, 3);
  EXPECT_EQ(bytes->sides[0].inside.value, 1572864);
  const Difference difference = bytes->Of(bytes->tree.contexts[bytes->contexts[0].id].self);
  EXPECT_TRUE(difference.a.low < difference.a.value && difference.a.value < difference.a.high);
}

// The interval of a weighted share, when every sample weighs about the same: against drawing it
// many times.
TEST_F(Compare, WeightedSharesHoldTheTruth) {
  std::mt19937 random(8);
  std::uniform_real_distribution<double> weight(0.8, 1.2);
  const Side side = {.sampled = true, .counted = true};
  int held = 0;
  for (int round = 0; round < 2000; ++round) {
    model::Amount part, whole;
    for (int i = 0; i < 500; ++i) {
      const model::Amount one = {.value = weight(random), .samples = 1};
      whole += one;
      if (random() % 10 == 0) part += one;
    }
    held += ShareOf(side, part, whole).Holds(0.1);
  }
  EXPECT_GT(held, 1850);
  EXPECT_LT(held, 1970);
}

// One side of a case in changes.json.
model::Amount CaseOf(const nlohmann::json& of, Side& side) {
  side.sampled = side.counted = of.contains("samples");
  if (!side.sampled) return {.value = of["value"], .error = of["error"]};
  const double one = of["one_sample"], samples = of["samples"];
  side.inside = {.value = 100 * one, .samples = 100};
  return {.value = samples * one, .samples = samples};
}

// The view colours changes by the same intervals: its unit test has the same cases.
TEST_F(Compare, ChangesOfValuesAreWithinTheirErrorsInTheSameCasesAsInTheView) {
  std::ifstream file(fs::path(__FILE__).parent_path() / "../../../reports/view/test/changes.json");
  const auto cases = nlohmann::json::parse(file);
  EXPECT_GT(cases.size(), 10u);
  for (const auto& one : cases) {
    Comparison comparison;
    comparison.absolute = true;
    const std::array<model::Amount, 2> amounts = {CaseOf(one["old"], comparison.sides[0]),
                                                  CaseOf(one["new"], comparison.sides[1])};
    EXPECT_EQ(comparison.Of(amounts).within, one["within"].get<bool>()) << one["what"];
  }
}

profile::SyntheticProfile Recursion(int depth) {
  profile::SyntheticProfile made;
  const profile::MethodId methods[] = {made.AddMethod("C", "a", "()V"),
                                       made.AddMethod("C", "b", "()V")};
  const size_t thread = made.AddThread("main", 1);
  for (int i = 0; i < depth; ++i) made.Enter(thread, methods[i % 2], FrameKind::kJitted, 10 + i);
  for (int i = 0; i < depth; ++i) made.Exit(thread, 10 + i);
  return made;
}

TEST_F(Compare, JsonOfADeepRecursionGrowsWithItsDepthOnly) {
  const auto json_of = [&](int depth) {
    const CompareOptions all = {.top = 10'000};
    const auto same = Two(Recursion(depth), Recursion(depth), all);
    EXPECT_TRUE(same) << same.error().message;
    const std::string two = TextOf(PrintJson, *same, all);
    const auto page = nlohmann::json::parse(two);
    EXPECT_EQ(page["contexts"].size(), static_cast<size_t>(depth));
    size_t longest = 0;
    for (const auto& context : page["contexts"])
      longest = std::max(longest, context["path"].size());
    EXPECT_GT(longest, 100u) << "the first paths are whole";
    EXPECT_LT(longest, static_cast<size_t>(depth));
    return two.size();
  };
  EXPECT_LT(json_of(4000), 6 * json_of(1000));
}

TEST_F(Compare, WrongUseIsOneClearLine) {
  const auto says = [](const auto& result, const std::string& words) {
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, Error::Kind::kWrongUse);
    EXPECT_NE(result.error().message.find(words), std::string::npos) << result.error().message;
    EXPECT_EQ(result.error().message.find('\n'), std::string::npos);
  };
  says(Two(SpreadSamples({1}), SpreadSamples({1}), {.metric = "sample"}),
       "did you mean 'samples'?");
  says(Two(SpreadSamples({1}), SpreadSamples({})), "nothing of 'samples' was sampled");
  says(Two(SpreadSamples({1}), DemoProfile()), "no method in common");
  says(Two(SpreadSamples({1}), DemoSamples(), {.metric = "samples,ALLOCATED_BYTES"}),
       "no method in common");
  profile::SyntheticProfile counts = DemoProfile();
  counts.meta = SampledMeta("", "calltree");
  says(Two(counts, DemoProfile()), "has no metric");
  model::Source empty = Open(SampledProfile(kTimeMetrics, 1), "empty");
  says(CompareWithin(empty, {}), "nothing of 'samples'");
}

// On any damaged profile compare returns a result. Most useful under asan-ubsan.
TEST_F(Compare, DamagedProfilesEndWithAnAnswer) {
  model::Source good = Open(DemoSamples(), "good");
  Open(DemoSamples(), "damaged");
  const fs::path directory = directories_.back();
  std::mt19937 random(9);
  int compared = 0;
  for (int round = 0; round < 600; ++round) {
    const char* const names[] = {profile::kControlFile, profile::kNodesFile, profile::kExtraFile,
                                 profile::kMethodsFile, profile::kMetaFile};
    const fs::path path = directory / names[random() % 5];
    std::ifstream in(path, std::ios::binary);
    const std::string before(std::istreambuf_iterator<char>(in), {});
    std::string bytes = before;
    for (int flips = 0; flips < 3; ++flips)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    if (random() % 10 == 0) bytes.resize(random() % bytes.size());
    std::ofstream(path, std::ios::binary) << bytes;
    if (Result<profile::Reader> reader = profile::Reader::Open(directory.string())) {
      model::Source damaged{
          .reader = std::move(*reader), .table = {}, .table_from = "", .uncalibrated = "none"};
      const auto both = CompareTwo(good, damaged, {.absolute = round % 2 == 0});
      const auto flat = CompareWithin(damaged, {});
      compared += both.has_value();
      if (both) {
        EXPECT_TRUE(nlohmann::json::accept(TextOf(PrintJson, *both)));
        TextOf(PrintText, *both);
        TextOf(PrintHtml, *both);
      }
    }
    std::ofstream(path, std::ios::binary) << before;
  }
  EXPECT_GT(compared, 100);
}

TEST(ComparableName, LosesWhatIsNumberedAnew) {
  const auto of = [](std::string_view class_name, uint16_t flags = 0) {
    return model::ComparableName({class_name, "m", "()V", flags},
                                 std::string(class_name) + ".m()V");
  };
  EXPECT_EQ(of("a/B"), "a/B.m()V");
  EXPECT_EQ(of("a/B$$Lambda$14/0x0000000800c03000"), "a/B$$Lambda.m()V");
  EXPECT_EQ(of("a/B$$Lambda+0x0000000800c03000"), "a/B$$Lambda.m()V");
  EXPECT_EQ(of("jdk/internal/reflect/GeneratedMethodAccessor12"),
            "jdk/internal/reflect/GeneratedMethodAccessor.m()V");
  EXPECT_EQ(of("java/lang/invoke/LambdaForm$MH/0x12"), "");
  EXPECT_EQ(of("vmlinux", profile::kMethodKernel), "");
}

TEST(ComparableName, OfSeveralBuildsLosesTheNumbersOfLambdas) {
  const auto of = [](const std::string& method, model::Builds builds) {
    return model::ComparableName({"a/B", method, "()V", 0}, "a/B." + method + "()V", builds);
  };
  for (const auto& [method, unnumbered] : {std::pair{"lambda$main$3", "lambda$main$"},
                                           {"$anonfun$run$12", "$anonfun$run$"},
                                           {"run$lambda$0", "run$lambda$"},
                                           {"lambda$main$", "lambda$main$"},
                                           {"access$001", "access$001"},
                                           {"lambda$a$b", "lambda$a$b"}}) {
    EXPECT_EQ(of(method, model::Builds::kSeveral), std::string("a/B.") + unnumbered + "()V");
    EXPECT_EQ(of(method, model::Builds::kOne), std::string("a/B.") + method + "()V");
  }
}

// So many calls of 1 us, and of 50 us with a wait of 1 ms, of Demo.work below main; and calls of
// another length below other.
profile::SyntheticProfile WithCalls(size_t fast, size_t slow, uint64_t other) {
  DistributionProfile demo;
  demo.Add(0, std::vector<WatchedCallMade>(fast, {.cpu = 1000, .elapsed = 1000}));
  demo.Add(0, std::vector<WatchedCallMade>(slow, {.cpu = 50'000, .elapsed = 1'050'000}));
  demo.Add(1, std::vector<WatchedCallMade>(400, {.cpu = other, .elapsed = other}));
  return demo.made;
}

TEST_F(Compare, TimesOfSingleCallsByContextAndMethod) {
  const auto both = Two(WithCalls(950, 50, 9000), WithCalls(800, 200, 9000));
  ASSERT_TRUE(both) << both.error().message;
  ASSERT_EQ(both->calls.contexts.size(), 2u);
  ASSERT_EQ(both->calls.methods.size(), 1u);
  const CallChange& main = both->calls.contexts[0];  // the one that changes comes first
  EXPECT_EQ(PathText(both->tree, main.id, 5), "Demo.work(I)I < Demo.main");
  EXPECT_EQ(main.calls, (std::array<uint64_t, 2>{1000, 1000}));
  const auto& [p50, p90, p99] = main.clocks[0].quantiles;
  EXPECT_TRUE(p50.within);
  EXPECT_NEAR(p50.ratio.value, 1, 0.13);
  EXPECT_FALSE(p90.within);
  EXPECT_NEAR(p90.ratio.value, 50, 8);
  EXPECT_GT(p90.ratio.low, 30);
  EXPECT_TRUE(p99.within);
  EXPECT_NEAR(main.clocks[1].quantiles[1].ratio.value, 1050, 150);
  for (const ClockChange& clock : both->calls.contexts[1].clocks) {
    for (const TimeChange& quantile : clock.quantiles) EXPECT_TRUE(quantile.within);
  }
  const std::string text = TextOf(PrintText, *both);
  EXPECT_NE(text.find("CLOCK      P50-A    P50-B    B/A"), std::string::npos) << text;
  EXPECT_NE(text.find("Demo.work(int) < Demo.main"), std::string::npos) << text;
  EXPECT_NE(text.find("(1000 calls, 1000)"), std::string::npos) << text;
  const auto json = nlohmann::json::parse(TextOf(PrintJson, *both))["single_calls"];
  EXPECT_EQ(json["contexts"][0]["path"], (nlohmann::json{"Demo.main()V", "Demo.work(I)I"}));
  EXPECT_EQ(json["methods"][0]["calls_b"], 1400);
  EXPECT_FALSE(json["contexts"][0]["cpu"]["p90"]["within_error"].get<bool>());
  EXPECT_NE(TextOf(PrintHtml, *both).find("Single calls of contexts"), std::string::npos);
}

// One of many slow calls in twenty is chance if there are few calls.
TEST_F(Compare, TimesOfFewSingleCallsAreWithinTheirError) {
  const auto both = Two(WithCalls(19, 1, 9000), WithCalls(17, 3, 9000));
  ASSERT_TRUE(both) << both.error().message;
  EXPECT_GT(both->calls.contexts.front().clocks[0].quantiles[1].ratio.value, 10);
  for (const CallChange& change : both->calls.contexts)
    for (const TimeChange& quantile : change.clocks[0].quantiles) EXPECT_TRUE(quantile.within);
}

// Of one call, nothing is known of those that were not made.
TEST_F(Compare, OneCallOnEachSideIsNoSureChange) {
  const auto both = Two(WithCalls(1, 0, 9000), WithCalls(0, 1, 90'000));
  ASSERT_TRUE(both) << both.error().message;
  for (const TimeChange& quantile : both->calls.contexts.back().clocks[0].quantiles)
    EXPECT_TRUE(quantile.within);
  const TimeChange& many = both->calls.contexts.front().clocks[0].quantiles[1];  // 400 calls
  EXPECT_FALSE(many.within);
  EXPECT_NEAR(many.ratio.value, 10, 1.5);
  EXPECT_TRUE(both->calls.contexts.front().clocks[0].quantiles[2].ratio.high > 8);
  EXPECT_NE(TextOf(PrintJson, *both), "");
}

TEST_F(Compare, OneProfileWithoutTimesOfSingleCallsHasNoTableOfThem) {
  profile::SyntheticProfile without = WithCalls(10, 10, 9000);
  without.distributions.clear();
  const auto both = Two(WithCalls(10, 10, 9000), without);
  ASSERT_TRUE(both) << both.error().message;
  EXPECT_TRUE(both->calls.empty());
  EXPECT_EQ(TextOf(PrintText, *both).find("CLOCK"), std::string::npos);
}

}  // namespace
}  // namespace jprof::reports
