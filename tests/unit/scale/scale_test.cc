// Results of jprof scale without a JVM: stacks of each size in, rows and reports out.
#include "model/scale/scale.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "model/open/open.h"
#include "reports/scale/scale_report.h"
#include "tests/unit/reports/combined_profile.h"

namespace jprof::reports {
namespace {

namespace fs = std::filesystem;

// A result on disk, which goes with this object. One size is added after the other.
class MadeScale {
 public:
  MadeScale()
      : directory_(fs::path(testing::TempDir()) /
                   ("scale-" + std::to_string(getpid()) + ".jprof")) {
    fs::remove_all(directory_);
    meta_.command = {"java", "Demo", "{n}"};
  }
  ~MadeScale() { fs::remove_all(directory_); }
  MadeScale(const MadeScale&) = delete;
  MadeScale& operator=(const MadeScale&) = delete;

  void Add(uint64_t size, StackProfile counted, std::vector<StackProfile> sampled = {}) {
    const fs::path of_size = directory_ / profile::SizeProfile(size);
    profile::CombinedMeta runs = {.command = {"java", "Demo"}};
    counted.Write(of_size / profile::kCountedProfile);
    runs.runs.push_back({.profile = profile::kCountedProfile});
    for (size_t run = 0; run < sampled.size(); ++run) {
      const std::string name = profile::SampledProfile(static_cast<int>(run) + 1);
      sampled[run].Write(of_size / name);
      runs.runs.push_back({.role = profile::Run::Role::kSampled, .profile = name});
    }
    EXPECT_TRUE(profile::WriteWholeFile(of_size / profile::kRunsFile, profile::ToJson(runs)));
    meta_.sizes.push_back(size);
    EXPECT_TRUE(profile::WriteWholeFile(directory_ / profile::kScaleFile, profile::ToJson(meta_)));
  }

  Result<model::ScaleView> Load() const {
    auto scale = model::OpenScale(directory_.string(), {});
    if (!scale) return std::unexpected(scale.error());
    return model::LoadScale(*scale);
  }

  std::string Print(const Options& options) const {
    auto scale = model::OpenScale(directory_.string(), {});
    EXPECT_TRUE(scale);
    const auto text = PrintedText([&](Output& out) { return PrintScale(*scale, options, out); });
    EXPECT_TRUE(text) << text.error().message;
    return Replaced(text.value_or(""), directory_.string(), "demo.jprof");
  }

  const fs::path& directory() const { return directory_; }

 private:
  fs::path directory_;
  profile::ScaleMeta meta_;
};

// Four sizes: find is called by run n times and by main n^2 times, once is called once, late only
// from n = 40 on.
MadeScale& AddSizes(MadeScale& made, bool sampled) {
  for (const uint32_t n : {10u, 20u, 40u, 80u}) {
    StackProfile counted = CountedStacks();
    counted.Call("A.main", 1);
    counted.Call("A.main B.run", 1);
    counted.Call("A.main B.run T.find", n);
    counted.Call("A.main T.find", n * n);
    counted.Call("A.main once/Once.once", 1);
    if (n >= 80) counted.Call("A.main Late.late", 3);
    StackProfile stacks = SampledStacks();
    stacks.Add("A.main T.find", n * n);
    stacks.Add("A.main T.find F:libx.so", n * n);  // counts for its caller
    stacks.Add("A.main B.run", 20);
    made.Add(n, counted, sampled ? std::vector{stacks} : std::vector<StackProfile>());
  }
  return made;
}

const model::ScaleRow& RowOf(const model::ScaleView& view, const std::string& name, bool is_part,
                             size_t number = 0) {
  for (const model::ScaleRow& row : view.rows) {
    if (view.names[row.name].starts_with(name) && row.is_part == is_part && number-- == 0)
      return row;
  }
  ADD_FAILURE() << "no row of " << name;
  return view.rows.front();
}

TEST(Scale, ContextsOfTheSizesMatchByName) {
  MadeScale made;
  const auto view = AddSizes(made, /*sampled=*/false).Load();
  ASSERT_TRUE(view) << view.error().message;
  EXPECT_FALSE(view->has_times);
  EXPECT_EQ(view->sizes, (std::vector<double>{10, 20, 40, 80}));
  const model::ScaleRow& find = RowOf(*view, "T.find", false);
  EXPECT_EQ(find.contexts, 2u);
  EXPECT_EQ(find.calls, (std::vector<double>{110, 420, 1640, 6480}));
  EXPECT_NEAR(find.law->exponent, 2, 0.05);
  const model::ScaleRow& first = RowOf(*view, "T.find", true);
  EXPECT_EQ(first.calls.back(), 6400);
  EXPECT_NEAR(first.law->exponent, 2, 1e-6);
  const model::ScaleRow& second = RowOf(*view, "T.find", true, 1);
  EXPECT_EQ(second.calls.back(), 80);
  EXPECT_NEAR(second.law->exponent, 1, 1e-6);
  EXPECT_EQ(RowOf(*view, "once/Once.once", false).law->exponent, 0);
  EXPECT_FALSE(RowOf(*view, "Late.late", false).law);
  EXPECT_EQ(RowOf(*view, "Late.late", false).calls, (std::vector<double>{0, 0, 0, 3}));
}

TEST(Scale, SharesAtTenTimesTheSizeAreParts) {
  MadeScale made;
  const auto view = AddSizes(made, /*sampled=*/false).Load();
  ASSERT_TRUE(view);
  double methods = 0, contexts = 0;
  for (const model::ScaleRow& row : view->rows) {
    if (!row.is_part) methods += row.share_farther;
    if (row.is_part || row.contexts == 1) contexts += row.share_farther;
  }
  EXPECT_NEAR(methods, 1, 1e-9);
  EXPECT_NEAR(contexts, 1, 1e-9);
  // 640,000 of 640,000 + 800 + what does not grow.
  EXPECT_NEAR(RowOf(*view, "T.find", true).share_farther, 640'000 / 640'806.0, 1e-5);
  EXPECT_EQ(view->names[view->rows.front().name].substr(0, 6), "T.find");
}

TEST(Scale, TimesHaveExponentsWithIntervals) {
  MadeScale made;
  const auto view = AddSizes(made, /*sampled=*/true).Load();
  ASSERT_TRUE(view) << view.error().message;
  EXPECT_TRUE(view->has_times);
  const model::ScaleRow& find = RowOf(*view, "T.find", true);
  ASSERT_TRUE(find.time_exponent);
  EXPECT_NEAR(find.time_exponent->value, 2, 0.05);
  EXPECT_TRUE(find.time_exponent->Holds(2));
  const model::ScaleRow& run = RowOf(*view, "B.run", false);
  ASSERT_TRUE(run.time_exponent);
  EXPECT_TRUE(run.time_exponent->Holds(0));
  EXPECT_FALSE(RowOf(*view, "once/Once.once", false).time_exponent);
  EXPECT_GT(find.share, 0.9);
}

TEST(Scale, TextShowsTheFastestFirst) {
  MadeScale made;
  const std::string text = AddSizes(made, /*sampled=*/true).Print({});
  for (const char* said : {"jprof scale of demo.jprof", "java Demo {n}",
                           "n = 10, 20, 40, 80; counted, and 1 sampled run", "T.find(): calls ~ n^",
                           "  < A.main", "n^2.00", "n^0"})
    EXPECT_NE(text.find(said), text.npos) << said << " in:\n" << text;
  EXPECT_EQ(text.find("nan"), text.npos) << text;
}

TEST(Scale, FormatsHaveAllRows) {
  MadeScale made;
  AddSizes(made, /*sampled=*/true);
  const std::string csv = made.Print({.format = Format::kCsv});
  EXPECT_EQ(std::ranges::count(csv, '\n'), 1 + 7);  // five methods, one with two contexts
  EXPECT_NE(csv.find("calls_10,calls_20,calls_40,calls_80,time_ns_10"), csv.npos) << csv;
  const std::string json = made.Print({.format = Format::kJson});
  EXPECT_NE(json.find(R"("sizes":[10,20,40,80])"), json.npos) << json;
  EXPECT_NE(json.find(R"("calls":[100,400,1600,6400])"), json.npos) << json;
}

TEST(Scale, NothingInCommonIsNoResult) {
  MadeScale made;
  StackProfile one = CountedStacks(), two = CountedStacks();
  one.Call("A.main", 1);
  two.Call("B.main", 1);
  made.Add(10, one);
  made.Add(20, two);
  const auto view = made.Load();
  ASSERT_FALSE(view);
  EXPECT_NE(view.error().message.find("no method was counted in two sizes"), std::string::npos);
}

TEST(ScaleMeta, RoundTripAndDamages) {
  const profile::ScaleMeta meta = {.jprof = "1",
                                   .start = "now",
                                   .command = {"java", "A", "{n}"},
                                   .notes = {"n = 4 is left out"},
                                   .sizes = {1, 2, 1'000'000'000'000}};
  profile::Damages damages;
  EXPECT_EQ(profile::ParseScale(ToJson(meta), damages), meta);
  EXPECT_TRUE(damages.empty());
  for (const char* text :
       {"", "[]", "{}", R"({"format":2,"sizes":[1,2]})", R"({"format":1,"sizes":[2,1]})",
        R"({"format":1,"sizes":[0]})", R"({"format":1,"sizes":["1"]})",
        R"({"format":1,"sizes":[-1]})", R"({"format":1,"sizes":[1.5]})"}) {
    profile::Damages found;
    profile::ParseScale(text, found);
    EXPECT_FALSE(found.empty()) << text;
  }
}

TEST(ScaleMeta, NamesOfSizes) {
  EXPECT_EQ(profile::SizeProfile(1000), "n1000");
  EXPECT_TRUE(profile::IsSizeProfile("n7"));
  for (const char* name : {"n", "7", "n7x", "n-7", "m7", ""})
    EXPECT_FALSE(profile::IsSizeProfile(name)) << name;
}

}  // namespace
}  // namespace jprof::reports
