// Counted and sampled profiles matched to one tree, and the report of it: pages against
// tests/golden/, sums, random profiles against a slow oracle.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "reports/combined/combined_rows.h"
#include "reports/report_list.h"
#include "tests/oracle/folded_paths.h"
#include "tests/oracle/slow_sums.h"
#include "tests/unit/reports/combined_profile.h"

namespace jprof::reports {
namespace {

namespace fs = std::filesystem;

// A context of a loaded view by its path, without signatures: "A.main B.run".
struct Found {
  const model::CombinedTree& tree;
  size_t index;
  const model::CombinedContext& context() const { return tree.contexts[index]; }
  double own(size_t run = 0) const { return tree.Samples(index, run); }
  double all(size_t run = 0) const { return tree.AllSamples(index, run); }
};

std::string KeyOf(const std::string& stack) {
  std::string key;
  std::istringstream frames(stack);
  for (std::string frame; frames >> frame;) key += frame + ";";
  return key;
}

std::string WithoutSignatures(std::string path) {
  for (size_t at; (at = path.find("()V")) != std::string::npos;) path.erase(at, 3);
  return path;
}

class CombinedViewOf {
 public:
  CombinedViewOf(StackProfile counted, std::vector<StackProfile> sampled)
      : made_(std::move(counted), std::move(sampled)), view_(made_.Load()) {
    EXPECT_TRUE(view_) << view_.error().message;
    for (const auto& [path, index] : PathsOf(view_->tree)) paths_[WithoutSignatures(path)] = index;
  }
  const model::CombinedView& view() const { return *view_; }
  Found At(const std::string& stack) const {
    const auto found = paths_.find(KeyOf(stack));
    EXPECT_NE(found, paths_.end()) << stack << " is not in:\n" << All();
    return {view_->tree, found == paths_.end() ? 0 : found->second};
  }
  bool Has(const std::string& stack) const { return paths_.contains(KeyOf(stack)); }
  std::string All() const {
    std::string text;
    for (const auto& [path, index] : paths_) text += path + "\n";
    return text;
  }

 private:
  MadeCombined made_;
  Result<model::CombinedView> view_;
  std::map<std::string, size_t> paths_;
};

TEST(CombinedTree, ContextsMatchByNameInWhateverOrderTheMethodsWereSeen) {
  StackProfile counted = CountedStacks();
  counted.Call("A.main", 1);
  counted.Call("A.main B.run", 7);
  counted.Call("A.main C.run", 5);
  StackProfile one = SampledStacks(), two = SampledStacks();
  one.Add("A.main C.run", 30);
  one.Add("A.main B.run", 10);
  two.Add("D.never", 1);
  two.Add("A.main L:B.run", 20);  // inlined there
  const CombinedViewOf made(counted, {one, two});
  EXPECT_EQ(made.At("A.main B.run").context().calls, 7u);
  EXPECT_EQ(made.At("A.main B.run").own(0), 10);
  EXPECT_EQ(made.At("A.main B.run").own(1), 20);
  EXPECT_EQ(made.At("A.main C.run").own(0), 30);
  EXPECT_EQ(made.At("A.main").all(0), 40);
  EXPECT_TRUE(made.At("A.main C.run").context().counted);
  EXPECT_FALSE(made.At("D.never").context().counted);
  EXPECT_EQ(made.At("A.main B.run").context().type, 'L');  // of most samples
  EXPECT_EQ(made.view().tree.contexts.size(), 5u);
  EXPECT_EQ(made.view().counted_contexts, 3u);
  EXPECT_EQ(made.view().sampled_contexts, 4u);
  EXPECT_EQ(made.view().common_contexts, 3u);
  EXPECT_DOUBLE_EQ(made.view().uncounted, 1 / 61.0);
}

TEST(CombinedTree, ThreadsAreOneTree) {
  StackProfile counted = CountedStacks();
  counted.Call("A.main", 1);
  counted.NextThread();
  counted.Call("A.main", 2);
  StackProfile sampled = SampledStacks();
  sampled.Add("A.main", 4);
  sampled.NextThread();
  sampled.Add("A.main", 5);
  const CombinedViewOf made(counted, {sampled});
  EXPECT_EQ(made.At("A.main").context().calls, 3u);
  EXPECT_EQ(made.At("A.main").own(), 9);
}

TEST(CombinedTree, NativeFramesAreBelowTheirJavaCallerAndJavaFramesBelowThemAreNot) {
  StackProfile counted = CountedStacks();
  counted.Call("A.main", 1);
  counted.Call("A.main N:B.read", 3);
  counted.Call("A.main N:B.read C.callback", 2);
  StackProfile sampled = SampledStacks();
  sampled.Add("A.main N:B.read F:libx.so K:ksys_read", 10);
  sampled.Add("A.main N:B.read F:libx.so C.callback", 4);
  sampled.Add("A.main N:B.read F:libx.so C.callback S:arraycopy", 2);
  sampled.Add("F:libjvm.so K:futex", 8);  // no Java method: a thread of the VM
  const CombinedViewOf made(counted, {sampled});
  EXPECT_EQ(made.At("A.main B.read libx.so+0x1 vmlinux.ksys_read").own(), 10);
  EXPECT_FALSE(made.At("A.main B.read libx.so+0x1").context().is_java);
  EXPECT_EQ(made.At("A.main B.read libx.so+0x1").context().type, 'F');
  EXPECT_EQ(made.At("A.main B.read libx.so+0x1").all(), 10);
  EXPECT_EQ(made.At("A.main B.read C.callback").own(), 4);
  EXPECT_EQ(made.At("A.main B.read C.callback").context().calls, 2u);
  EXPECT_EQ(made.At("A.main B.read C.callback arraycopy").own(), 2);
  EXPECT_EQ(made.At("A.main B.read").all(), 16);
  EXPECT_EQ(made.At("").all(), 24);
  EXPECT_DOUBLE_EQ(made.view().outside, 8 / 24.0);
  EXPECT_DOUBLE_EQ(made.view().uncounted, 0);
}

TEST(CombinedTree, GeneratedClassesMatchWithoutTheirNumbersOrAreFolded) {
  const std::string form = "java/lang/invoke/LambdaForm$MH/0x00000001.invoke";
  StackProfile counted = CountedStacks();
  counted.Call("A.main", 1);
  counted.Call("A.main A$$Lambda$14/0x0800.run", 5);
  counted.Call("A.main A$$Lambda$14/0x0800.run " + form, 6);
  counted.Call("A.main A$$Lambda$14/0x0800.run " + form + " B.work", 7);
  counted.Call("A.main jdk/internal/reflect/GeneratedMethodAccessor3.invoke", 9);
  StackProfile sampled = SampledStacks();
  sampled.Add("A.main A$$Lambda/0x7f01.run", 10);
  sampled.Add("A.main A$$Lambda/0x7f01.run java/lang/invoke/LambdaForm$DMH/0x22.x", 20);
  sampled.Add("A.main A$$Lambda/0x7f01.run java/lang/invoke/LambdaForm$DMH/0x22.x B.work", 40);
  sampled.Add("A.main jdk/internal/reflect/GeneratedMethodAccessor12.invoke", 80);
  const CombinedViewOf made(counted, {sampled});
  EXPECT_EQ(made.At("A.main A$$Lambda.run").context().calls, 5u);
  EXPECT_EQ(made.At("A.main A$$Lambda.run").own(), 30);
  EXPECT_EQ(made.At("A.main A$$Lambda.run B.work").context().calls, 7u);
  EXPECT_EQ(made.At("A.main A$$Lambda.run B.work").own(), 40);
  EXPECT_EQ(made.At("A.main jdk/internal/reflect/GeneratedMethodAccessor.invoke").context().calls,
            9u);
  EXPECT_EQ(made.At("A.main jdk/internal/reflect/GeneratedMethodAccessor.invoke").own(), 80);
  EXPECT_EQ(made.view().tree.folded.calls, 6u);
  EXPECT_EQ(made.view().tree.folded.samples, 20);
  EXPECT_EQ(made.view().tree.contexts.size(), 5u);
}

TEST(CombinedTree, RecursionIsFoldedInTheSameWayOnBothSides) {
  StackProfile counted = CountedStacks();  // folded while it ran: B is below A once
  counted.Call("A.a", 4);
  counted.Call("A.a B.b", 3);
  counted.Call("A.a B.b C.c", 2);
  StackProfile sampled = SampledStacks();
  sampled.Add("A.a B.b A.a B.b", 10);
  sampled.Add("A.a B.b B.b A.a B.b C.c", 5);
  sampled.Add("A.a A.a F:libx.so F:liby.so F:libx.so", 1);
  const CombinedViewOf made(counted, {sampled});
  EXPECT_EQ(made.At("A.a B.b").own(), 10);
  EXPECT_EQ(made.At("A.a B.b C.c").own(), 5);
  EXPECT_EQ(made.At("A.a libx.so+0x1").own(), 1);
  EXPECT_EQ(made.At("A.a").context().calls, 4u);
  EXPECT_EQ(made.view().tree.contexts.size(), 6u);
}

// Rows of other events, such as allocations, are no rows of time.
TEST(CombinedTree, WhatHasNoSamplesOfTimeIsNotSampled) {
  StackProfile counted = CountedStacks();
  counted.Call("A.main", 1);
  counted.Call("A.main B.make", 9);
  StackProfile sampled(SampledMeta(std::string(kTimeMetrics) + "," + kBytesMetrics), 3);
  sampled.Add("A.main", 10);
  sampled.Add("A.main B.make C:java/lang/String", 524288, 1);
  sampled.Add("A.main B.make C:java/lang/String", 1, 2);
  const CombinedViewOf made(counted, {sampled});
  EXPECT_FALSE(made.Has("A.main B.make java/lang/String")) << made.All();
  EXPECT_FALSE(made.At("A.main B.make").context().sampled);
  EXPECT_EQ(made.view().sampled_contexts, 1u);
  EXPECT_DOUBLE_EQ(made.view().calls_unsampled, 0.9);
}

using Frames = std::vector<oracle::PathFrame>;

std::string TextOf(const Frames& stack, unsigned salt) {
  using enum oracle::PathFrame::Kind;
  std::string text;
  for (const oracle::PathFrame& frame : stack) {
    if (frame.kind == kNative) text += "S:" + frame.name;
    if (frame.kind == kJava) text += frame.name.substr(0, frame.name.find('('));
    if (frame.kind == kGenerated)
      text += "java/lang/invoke/LambdaForm$MH/0x" + std::to_string(salt) + "." + frame.name;
    text += " ";
  }
  return text;
}

Frames RandomStack(std::mt19937& random, bool counted) {
  using enum oracle::PathFrame::Kind;
  static const std::vector<oracle::PathFrame> kFrames = {
      {"P.a()V", kJava},  {"P.b()V", kJava},  {"Q.a()V", kJava}, {"Q.b()V", kJava},
      {"R.x()V", kJava},  {"g", kGenerated},  {"h", kGenerated}, {"memcpy", kNative},
      {"futex", kNative}, {"malloc", kNative}};
  Frames stack;
  for (size_t depth = random() % 10; stack.size() <= depth;) {
    stack.push_back(kFrames[random() % (counted ? 7 : kFrames.size())]);
  }
  return stack;
}

TEST(CombinedTree, RandomProfilesAreFoldedAsPathByPath) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    oracle::FoldedPaths slow;
    StackProfile counted = CountedStacks();
    std::vector<StackProfile> sampled = {SampledStacks(), SampledStacks()};
    counted.Call("P.a", 1);  // one context in common
    slow.Call({{"P.a()V"}}, 1);
    sampled[0].Add("P.a", 1);
    slow.Sample({{"P.a()V"}}, 0, 1);
    for (int i = 0; i < 80; ++i) {
      const auto value = static_cast<uint32_t>(random() % 50 + 1);
      const size_t run = random() % 3;
      const Frames stack = RandomStack(random, run == 2);
      if (run == 2) {
        counted.Call(TextOf(stack, seed), value);
        slow.Call(stack, value);
      } else {
        sampled[run].Add(TextOf(stack, seed + 1), value);
        slow.Sample(stack, run, value);
      }
    }
    const MadeCombined made(counted, sampled);
    const auto view = made.Load();
    ASSERT_TRUE(view) << view.error().message;
    const std::map<std::string, size_t> paths = PathsOf(view->tree);
    ASSERT_EQ(paths.size(), slow.contexts().size()) << seed;
    for (const auto& [path, sums] : slow.contexts()) {
      const auto found = paths.find(path);
      ASSERT_NE(found, paths.end()) << path;
      EXPECT_EQ(view->tree.contexts[found->second].calls, sums.calls) << path;
      for (size_t run = 0; run < 2; ++run) {
        EXPECT_EQ(view->tree.Samples(found->second, run), sums.samples[run]) << path;
        EXPECT_EQ(view->tree.AllSamples(found->second, run), slow.AllSamples(path, run)) << path;
      }
    }
  }
}

TEST(CombinedTree, NothingIsLost) {
  StackProfile counted = CountedStacks();
  std::vector<StackProfile> sampled = {SampledStacks(), SampledStacks()};
  std::mt19937 random(1);
  counted.Call("P.a", 1);
  sampled[0].Add("P.a", 1);
  double samples[2] = {1, 0};
  uint64_t calls = 1;
  for (int i = 0; i < 300; ++i) {
    const auto value = static_cast<uint32_t>(random() % 9 + 1);
    const size_t run = random() % 2;
    sampled[run].Add(TextOf(RandomStack(random, false), 3), value);
    samples[run] += value;
    counted.Call(TextOf(RandomStack(random, true), 4), value);
    calls += value;
  }
  const CombinedViewOf made(counted, sampled);
  const model::CombinedTree& tree = made.view().tree;
  uint64_t all_calls = tree.folded.calls;
  double own[2] = {};
  for (size_t i = 0; i < tree.contexts.size(); ++i) {
    all_calls += tree.contexts[i].calls;
    for (size_t run = 0; run < 2; ++run) own[run] += tree.Samples(i, run);
    EXPECT_TRUE(i == 0 || tree.contexts[i].parent < i);
  }
  EXPECT_EQ(all_calls, calls);
  EXPECT_EQ(made.view().counted.calls, calls);
  for (size_t run = 0; run < 2; ++run) {
    EXPECT_EQ(own[run], samples[run]);
    EXPECT_EQ(tree.AllSamples(0, run), samples[run]);
    EXPECT_EQ(made.view().sampled[run].samples, samples[run]);
  }
}

// The combined profile of the golden pages: every kind of frame; tiny and big methods; a context of
// each side alone; runs that differ.
MadeCombined DemoCombined(size_t runs = 2) {
  StackProfile counted = CountedStacks();
  counted.Call("I:Demo.main", 1);
  counted.Call("I:Demo.main Demo.work", 2000);
  counted.Call("I:Demo.main Demo.work Demo.step", 3'000'000'000);
  counted.Call("I:Demo.main Demo.work J:Demo.rare", 40);
  counted.Call("I:Demo.main N:java/io/FileInputStream.read0", 12);
  counted.Call("I:Demo.main Demo.unsampled", 1000);
  counted.Call("I:Demo.main Demo.work java/lang/invoke/LambdaForm$MH/0x1.invoke", 25);
  std::vector<StackProfile> sampled;
  for (int run = 0; run < static_cast<int>(runs); ++run) {
    StackProfile& one = sampled.emplace_back(SampledStacks());
    one.Add("I:Demo.main", 3);
    one.Add("I:Demo.main Demo.work", 200 + 10 * run);
    one.Add("I:Demo.main Demo.work L:Demo.step", 6000 - 300 * run);
    one.Add("I:Demo.main Demo.work S:StubRoutines::arraycopy", 20);
    one.Add("I:Demo.main N:java/io/FileInputStream.read0 F:libdemo.so K:ksys_read", 110 + run);
    one.Add("I:Demo.main Demo.uncounted", 60);
    one.Add("F:libjvm.so", 7);
    if (run == 0) one.Add("I:Demo.main Demo.work J:Demo.rare", 1);
  }
  return {counted, sampled};
}

void SetRuns(MadeCombined& made) {
  profile::CombinedMeta& meta = made.meta();
  for (size_t run = 0; run < meta.runs.size(); ++run) {
    meta.runs[run].wall_seconds = 6.5 + static_cast<double>(run) / 8;
    meta.runs[run].cpu_seconds = 6.75 - static_cast<double>(run) / 4;
    meta.runs[run].exit_status = 0;
  }
  meta.runs[0].wall_seconds = 21.5;
  meta.runs[0].cpu_seconds = 22.25;
  meta.runs[0].output = profile::Run::Output::kEqual;
  meta.runs.back().output = profile::Run::Output::kDiffers;
  meta.notes = {"sampled-1 was made on another machine"};
}

struct CombinedCase {
  const char* golden;
  Options options;
};

void PrintTo(const CombinedCase& one, std::ostream* out) { *out << one.golden; }

const CombinedCase kCombinedCases[] = {
    {"combined.txt", {}},
    {"combined_hidden.txt", {.min_percent = 1, .depth = 2}},
    {"combined.json", {.format = Format::kJson}},
    {"combined.csv", {.format = Format::kCsv}},
    {"combined.md", {.format = Format::kMarkdown}},
    {"combined.collapsed", {.format = Format::kCollapsed, .min_percent = 1}},
};

class CombinedGolden : public testing::TestWithParam<CombinedCase> {};

TEST_P(CombinedGolden, IsAsWritten) {
  MadeCombined made = DemoCombined();
  SetRuns(made);
  const Printed printed = made.Print(GetParam().options);
  ASSERT_TRUE(printed.result) << printed.result.error().message;
  const fs::path golden = fs::path(__FILE__).parent_path() / "../../golden" / GetParam().golden;
  if (std::getenv("JPROF_UPDATE_GOLDEN") != nullptr) std::ofstream(golden) << printed.text;
  std::ostringstream expected;
  expected << std::ifstream(golden).rdbuf();
  EXPECT_EQ(printed.text, expected.str());
}

INSTANTIATE_TEST_SUITE_P(Reports, CombinedGolden, testing::ValuesIn(kCombinedCases),
                         [](const auto& tested) {
                           std::string name = tested.param.golden;
                           std::ranges::replace(name, '.', '_');
                           return name;
                         });

std::vector<oracle::CsvRow> CsvOf(const MadeCombined& made, Options options) {
  options.format = Format::kCsv;
  const Printed printed = made.Print(options);
  EXPECT_TRUE(printed.result) << printed.result.error().message;
  std::vector<oracle::CsvRow> rows = oracle::ParseCsv(printed.text);
  for (oracle::CsvRow& row : rows) {
    for (const char* name : {"parent", "calls"})
      if (row.fields[name].empty()) row.fields[name] = "0";
  }
  return rows;
}

TEST(CombinedReport, HiddenRowsKeepTheSums) {
  const MadeCombined made = DemoCombined();
  const std::vector<oracle::CsvRow> whole = CsvOf(made, {});
  for (const Options& options :
       {Options{.min_percent = 1}, Options{.min_percent = 50}, Options{.depth = 1},
        Options{.depth = 0}, Options{.min_percent = 0.2, .depth = 3}}) {
    const std::vector<oracle::CsvRow> rows = CsvOf(made, options);
    EXPECT_LE(rows.size(), whole.size());
    EXPECT_EQ(
        std::ranges::count_if(
            rows, [](const auto& row) { return row.fields.at("name").contains("(hidden: "); }) > 0,
        true);
    for (const char* column : {"calls", "samples"})
      EXPECT_EQ(oracle::Total(rows, column), oracle::Total(whole, column)) << column;
    EXPECT_NEAR(oracle::Total(rows, "time_ns"), oracle::Total(whole, "time_ns"), 10);
    // What each row has with all below it is what the rows below it have.
    std::map<std::string, double> sums = oracle::Cumulative(rows, "time_ns");
    for (const oracle::CsvRow& row : rows)
      EXPECT_NEAR(row.number("cum_ns"), sums.at(row.fields.at("id")), 10) << row.fields.at("name");
  }
}

TEST(CombinedReport, CollapsedStacksHaveANameInEachFrameAndTheWholeTime) {
  const MadeCombined made = DemoCombined();
  for (const double min_percent : {0.0, 1.0}) {
    const Printed printed = made.Print({.format = Format::kCollapsed, .min_percent = min_percent});
    double sum = 0;
    std::istringstream lines(printed.text);
    for (std::string line; std::getline(lines, line);) {
      EXPECT_FALSE(line.contains(";;") || line.contains("; ")) << line;
      EXPECT_FALSE(line.starts_with(";")) << line;
      sum += std::stod(line.substr(line.rfind(' ')));
    }
    const std::vector<oracle::CsvRow> rows = CsvOf(made, {});
    EXPECT_NEAR(sum, rows[0].number("cum_ns") / 1e3, 1);
  }
}

TEST(CombinedReport, TheListedColumnsAreThePrintedOnes) {
  const Printed printed = DemoCombined().Print({.format = Format::kMarkdown});
  std::set<std::string> listed, heading;
  for (const ColumnHelp& column : DefaultReport(model::InputKind::kCombined).columns)
    listed.emplace(column.name);
  std::istringstream names(printed.text.substr(0, printed.text.find('\n')));
  for (std::string name; names >> name;)
    if (name != "|") heading.insert(name);
  EXPECT_EQ(listed, heading);
}

TEST(CombinedReport, ANameIsConvertedOnce) {
  StackProfile counted = CountedStacks();
  counted.Call("A.main", 1);
  counted.Call("A.main p/B.work", 2);
  counted.Call("A.main C.x p/B.work", 3);
  const CombinedViewOf made(counted, {SampledStacks()});
  std::set<const void*> places;
  VisitCombined(made.view(), {.all = true}, [&](const CombinedRow& row) {
    if (row.shown_name == "p.B.work()") places.insert(row.shown_name.data());
    return true;
  });
  EXPECT_EQ(places.size(), 1u);
}

TEST(CombinedReport, WithOneSampledRunTheIntervalHasTheUsualDifference) {
  const Printed printed = DemoCombined(1).Print({});
  ASSERT_TRUE(printed.result);
  EXPECT_TRUE(printed.text.contains("how much runs differ is not known")) << printed.text;
  EXPECT_FALSE(DemoCombined(2).Print({}).text.contains("how much runs differ is not known"));
  const nlohmann::json root =
      nlohmann::json::parse(DemoCombined(1).Print({.format = Format::kJson}).text);
  // One run alone shows no difference: these are the usual ones.
  EXPECT_EQ(root["relative_total_spread"], 0.05);
  EXPECT_EQ(root["relative_share_spread"], 0.07);
}

TEST(CombinedReport, ASampledRunWithoutSamplesIsPrinted) {
  StackProfile counted = CountedStacks();
  counted.Call("A.main", 3);
  const MadeCombined made(counted, {SampledStacks()});
  const Printed printed = made.Print({});
  ASSERT_TRUE(printed.result) << printed.result.error().message;
  EXPECT_TRUE(printed.text.contains("0 samples")) << printed.text;
  EXPECT_FALSE(printed.text.contains("nan")) << printed.text;
  const nlohmann::json root = nlohmann::json::parse(made.Print({.format = Format::kJson}).text);
  EXPECT_EQ(root["nodes"][1]["calls"], 3);
  EXPECT_EQ(root["nodes"][1]["time_ns"]["value"], 0);
  EXPECT_GT(root["nodes"][1]["time_ns"]["high"], 0);
}

std::string ErrorOf(StackProfile counted, StackProfile sampled) {
  const auto view = MadeCombined(std::move(counted), {std::move(sampled)}).Load();
  EXPECT_FALSE(view);
  if (view) return "";
  EXPECT_EQ(view.error().kind, Error::Kind::kWrongUse);
  return view.error().message;
}

TEST(CombinedReport, ProfilesThatCannotBeMatchedAreAnError) {
  StackProfile counted = CountedStacks(), sampled = SampledStacks(), other = SampledStacks();
  counted.Call("A.main", 1);
  sampled.Add("A.main", 1);
  other.Add("B.main", 1);
  EXPECT_TRUE(ErrorOf(counted, other).contains("are they of the same program?"));
  EXPECT_TRUE(ErrorOf(CountedStacks(), sampled).contains("has no calls; record it with"));
  StackProfile bytes(SampledMeta(kBytesMetrics), 2);
  bytes.Add("A.main", 1);
  EXPECT_TRUE(ErrorOf(counted, bytes).contains("has no samples by time; record it with jprof scs"));
}

// What a damaged run lacks was there: the message names the damage, not only what to record.
TEST(CombinedReport, ADamagedRunIsNamedAsTheCause) {
  const MadeCombined made = DemoCombined();
  std::filesystem::resize_file(made.directory() / "counted" / "nodes", 0);
  const Printed printed = made.Print({});
  ASSERT_FALSE(printed.result);
  const std::string& said = printed.result.error().message;
  EXPECT_NE(said.find("it is damaged: nodes"), std::string::npos) << said;
}

TEST(CombinedReport, DifferencesOfTheRunsAreNamedLargestFirst) {
  MadeCombined made = DemoCombined();
  SetRuns(made);
  made.meta().runs[2].exit_status = 137;
  made.meta().runs[2].cpu_seconds = 9.75;
  const auto view = made.Load();
  ASSERT_TRUE(view);
  std::vector<std::string> texts;
  for (const model::RunDifference& difference : view->differences) texts.push_back(difference.text);
  ASSERT_GE(texts.size(), 4u);
  EXPECT_EQ(texts[0], "exit status: sampled-1 0, sampled-2 137");
  EXPECT_EQ(texts[1], "output: that of sampled-2 differs from that of sampled-1");
  EXPECT_EQ(texts[2], "CPU time: sampled-1 6.500 s, sampled-2 9.750 s (+50 %)");
  EXPECT_EQ(texts.back(), "Demo.uncounted()V: 1.0 % of the samples, not called in the counted run");
}

TEST(CombinedReport, SiblingsAreSortedAsRequested) {
  const MadeCombined made = DemoCombined();
  const auto names = [&](std::optional<model::Sort> sort) {
    std::vector<std::string> found;
    for (const oracle::CsvRow& row : CsvOf(made, {.sort = sort, .depth = 2})) {
      const std::string& name = row.fields.at("name");
      if (row.fields.at("level") == "2" && !name.contains("hidden")) found.push_back(name);
    }
    return found;
  };
  const auto first = [&](std::optional<model::Sort> sort) { return names(sort).front(); };
  EXPECT_TRUE(first({}).contains("Demo.work"));
  EXPECT_TRUE(names({}).back().contains("Demo.unsampled"));
  EXPECT_TRUE(names(model::Sort::kBase)[1].contains("Demo.uncounted"));
  EXPECT_TRUE(names(model::Sort::kCalls)[1].contains("Demo.unsampled"));
  EXPECT_TRUE(names(model::Sort::kFirst)[1].contains("read0"));
}

// b is below itself, by way of a, and so is a.
MadeCombined Recursion(const std::string& counted_meta) {
  StackProfile counted(counted_meta);
  counted.Call("A.main", 1);
  counted.Call("A.main A.a", 20);
  counted.Call("A.main A.a A.b", 20);
  counted.Call("A.main A.a A.b A.a", 180);
  counted.Call("A.main A.a A.b A.a A.b", 180);
  counted.Call("A.main A.c", 5);
  StackProfile sampled = SampledStacks();
  sampled.Add("A.main A.a A.b A.a A.b", 100);
  sampled.Add("A.main A.a", 50);
  sampled.Add("A.main A.c", 1);
  return MadeCombined(counted, {sampled});
}

TEST(CombinedReport, ACallOfARecursionIsAnOutermostOne) {
  std::string meta = kCountedMeta;
  meta.replace(meta.find("\"fold_recursion\":true"), 21, "\"fold_recursion\":false");
  const MadeCombined made = Recursion(meta);
  const Result<model::CombinedView> view = made.Load();
  ASSERT_TRUE(view);
  const auto paths = PathsOf(view->tree);
  for (const char* path : {"A.main()V;A.a()V;", "A.main()V;A.a()V;A.b()V;"}) {
    EXPECT_EQ(view->tree.contexts[paths.at(path)].calls, 200u) << path;
    EXPECT_EQ(view->tree.OutermostCalls(paths.at(path)), 20u) << path;
  }
  for (const oracle::CsvRow& row : CsvOf(made, {})) {
    if (row.fields.at("name") != "A.a()V") continue;
    EXPECT_EQ(row.number("outermost_calls"), 20);
    EXPECT_NEAR(row.number("ns_per_call"), row.number("cum_ns") / 20, 1);
  }
}

TEST(CombinedReport, WhereRecursionWasFoldedTheTimeIsOfAnEntryAndMarked) {
  const MadeCombined made = Recursion(kCountedMeta);
  const std::string text = made.Print({}).text;
  const auto line = [&](const char* name) {
    const size_t at = text.find(name);
    const size_t begin = text.rfind('\n', at) + 1;
    return text.substr(begin, at - begin);
  };
  EXPECT_NE(line("R:A.a()").find(" r"), std::string::npos) << text;
  EXPECT_EQ(line("R:A.main()").find(" r"), std::string::npos) << text;
}

// The times of one context are the same texts in log-rt.
TEST(CombinedReport, LogRtPrintsTheSameMarks) {
  const MadeCombined made = Recursion(kCountedMeta);
  model::Combined combined = made.Open();
  const Result<model::CombinedView> view = model::LoadCombined(combined);
  ASSERT_TRUE(view);
  combined.counted.production = model::ProductionOf(*view);
  Result<std::string> log_rt =
      PrintedText([&](Output& out) { return PrintLogRt(combined.counted, {.merged = true}, out); });
  ASSERT_TRUE(log_rt);
  const auto line = [](const std::string& text, const char* name) {
    const size_t at = text.find(name);
    const size_t begin = text.rfind('\n', at) + 1;
    return text.substr(begin, at - begin);
  };
  const std::string text = made.Print({}).text;
  for (const char* name : {"R:A.a()", "R:A.c()"}) {
    std::istringstream words(line(text, name));
    for (std::string word; words >> word;) {
      if (word.find_first_of("~<r") == std::string::npos) continue;
      if (word.starts_with('<')) continue;  // combined also has that of CUM/CALL
      EXPECT_NE(line(*log_rt, name).find(word), std::string::npos) << word << "\n" << *log_rt;
    }
  }
  EXPECT_NE(line(*log_rt, "R:A.c()").find('~'), std::string::npos) << *log_rt;
}

}  // namespace
}  // namespace jprof::reports
