// Merging against a slow oracle: a map from the path of a context, as text, to its sums.
#include "profile/merge/merge.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <functional>
#include <random>

#include "profile/merge/spread.h"
#include "profile/read/losses.h"
#include "profile/read/reader.h"
#include "tests/unit/profile/synthetic_profile.h"

namespace jprof::profile {
namespace {

namespace fs = std::filesystem;

// entries, exits, dispatches, two metrics
using Sums = std::array<int64_t, 7>;
using Tree = std::map<std::pair<std::string, int>, Sums>;                   // by path and type
using Values = std::map<std::string, std::vector<std::array<int64_t, 3>>>;  // of each input

void Add(Sums& to, const Sums& from) {
  for (size_t i = 0; i < to.size(); ++i) to[i] += from[i];
}

Sums SumsOf(const CallTree& tree, size_t i) {
  const Counts& counts = tree.counts[i];
  const auto metric = [&](size_t m) { return m < tree.metrics.size() ? tree.metrics[m][i] : 0; };
  return {counts.entries[0],  counts.entries[1], counts.exits[0], counts.exits[1],
          tree.dispatches[i], metric(0),         metric(1)};
}

// The path of each record; `name` gives the threads' names, `sampled` makes the type part of it.
std::vector<std::string> PathsOf(const CallTree& tree, const Methods& methods, bool sampled,
                                 const std::function<std::string(ThreadIndex)>& name) {
  std::vector<std::string> paths;
  for (size_t i = 0; i < tree.size(); ++i) {
    const MethodName method = methods[MethodOf(tree.ref[i])];
    if (tree.parent[i] == kNoRecord) {
      paths.push_back(name(tree.thread[i]));
    } else if (tree.superseded[i]) {
      paths.push_back(paths[tree.parent[i]]);
    } else {
      paths.push_back(fmt::format("{}/{}.{}{}{}{}", paths[tree.parent[i]], method.class_name,
                                  method.name, method.signature,
                                  MethodOf(tree.ref[i]) == kOverflowMethod ? "(overflow)" : "",
                                  sampled ? fmt::format(":{}", Letter(TypeOf(tree.ref[i]))) : ""));
    }
  }
  return paths;
}

class MergeTest : public testing::Test {
 protected:
  MergeTest() : directory_(fs::path(testing::TempDir()) / ("merge-" + std::to_string(getpid()))) {
    fs::remove_all(directory_);
    fs::create_directories(directory_);
  }
  ~MergeTest() override { fs::remove_all(directory_); }

  std::string Path(const std::string& name) const { return (directory_ / name).string(); }

  // Writes a profile and adds it to the inputs.
  void Input(SyntheticProfile& profile) {
    options_.inputs.push_back(Path(fmt::format("in{}", options_.inputs.size() + 1)));
    profile.Write(options_.inputs.back());
  }

  MergedMeta MergeAll() {
    options_.output = Path("out");
    auto merged = Merge(options_);
    EXPECT_TRUE(merged) << (merged ? "" : merged.error().message);
    return merged ? *merged : MergedMeta{};
  }
  std::string Refusal() {
    options_.output = Path("out");
    const auto merged = Merge(options_);
    EXPECT_FALSE(merged);
    EXPECT_TRUE(!merged && merged.error().kind == Error::Kind::kWrongUse);
    EXPECT_FALSE(fs::exists(options_.output));
    return merged ? "" : merged.error().message;
  }

  static Reader Open(const std::string& path) {
    auto reader = Reader::Open(path);
    EXPECT_TRUE(reader) << (reader ? "" : reader.error().message);
    return *std::move(reader);
  }

  // Threads of one profile that are kept apart may have the same name, but not the same number.
  std::string ThreadName(size_t input, const Thread& thread) const {
    const std::string& name = thread.name;
    switch (options_.threads) {
      case MergeThreads::kByName:
        return name;
      case MergeThreads::kKeep:
        return fmt::format("{}: {} {}", input + 1, name, thread.record.tid);
      case MergeThreads::kMerge:
        break;
    }
    return "(all threads)";
  }

  void CheckAgainstOracle(bool sampled) {
    Tree expected;
    Values values;
    for (size_t n = 0; n < options_.inputs.size(); ++n) {
      Reader reader = Open(options_.inputs[n]);
      const CallTree tree = reader.ReadTree().value();
      const auto paths = PathsOf(tree, reader.ReadMethods(), sampled, [&](ThreadIndex thread) {
        return ThreadName(n, reader.threads()[IndexOf(thread)]);
      });
      std::map<std::string, std::array<int64_t, 3>> here;
      for (size_t i = 0; i < tree.size(); ++i) {
        const Sums sums = SumsOf(tree, i);
        Add(expected[{paths[i], static_cast<int>(TypeOf(tree.ref[i]))}], sums);
        auto& value = here[paths[i]];
        value[0] += sums[0] + sums[1];
        value[1] += sums[5];
        value[2] += sums[6];
      }
      for (const auto& [path, value] : here) values[path].push_back(value);
    }

    Reader reader = Open(options_.output);
    const CallTree tree = reader.ReadTree().value();
    const auto paths = PathsOf(tree, reader.ReadMethods(), sampled, [&](ThreadIndex thread) {
      const Thread& one = reader.threads()[IndexOf(thread)];
      if (options_.threads != MergeThreads::kKeep) return one.name;
      return fmt::format("{} {}", one.name, one.record.tid);
    });
    const Spread spread = ReadSpread(reader, 1 << 20);
    EXPECT_EQ(reader.damages().Lines(), std::vector<std::string>());
    Tree got;
    size_t contexts = 0;
    for (size_t i = 0; i < tree.size(); ++i) {
      Add(got[{paths[i], static_cast<int>(TypeOf(tree.ref[i]))}], SumsOf(tree, i));
      if (tree.superseded[i]) continue;
      ASSERT_EQ(i, contexts++) << "superseded records follow the contexts";
      CheckSpread(spread, i, values[paths[i]]);
    }
    EXPECT_EQ(contexts, values.size()) << "one context for each path";
    EXPECT_EQ(spread.present.size(), contexts);
    // A live record may have a type for which no input counted anything in this context.
    std::erase_if(got, [](const auto& entry) { return entry.second == Sums{}; });
    std::erase_if(expected, [](const auto& entry) { return entry.second == Sums{}; });
    EXPECT_EQ(got, expected);
  }

  void CheckSpread(const Spread& spread, size_t context,
                   const std::vector<std::array<int64_t, 3>>& values) const {
    ASSERT_LT(context, spread.present.size());
    EXPECT_EQ(spread.present[context], values.size());
    for (size_t c = 0; c < spread.columns; ++c) {
      std::vector<int64_t> column(options_.inputs.size() - values.size());
      for (const auto& value : values) column.push_back(value[c]);
      std::ranges::sort(column);
      const Range range = {column.front(), column[(column.size() - 1) / 2], column.back()};
      EXPECT_EQ(spread.ranges[context * spread.columns + c], range);
    }
  }

  fs::path directory_;
  MergeOptions options_;
};

constexpr char kTwoMetrics[] =
    R"({"mode":"callflow","metrics":[{"name":"time","unit":"ns","scale":1,"kind":"time"},
{"name":"cycles","unit":"events","scale":1,"kind":"count"}]})";
constexpr char kSampled[] =
    R"({"mode":"scs","metrics":[{"name":"cpu","unit":"samples","scale":1,"kind":"samples",
"period":1000000,"period_unit":"ns"}]})";
constexpr char kCounted[] = R"({"mode":"calltree","metrics":[]})";
constexpr char kSampledSites[] =
    R"({"mode":"scs","options":{"sites":true},"metrics":[{"name":"cpu","unit":"samples","scale":1,
"kind":"samples","period":1000000,"period_unit":"ns"}]})";
constexpr char kCountedSites[] = R"({"mode":"calltree","options":{"sites":true},"metrics":[]})";

// Random trees with methods in another order in each: contexts of few methods, so that paths
// repeat; sites, if the profile has any; the same path twice in one tree (folded recursion);
// superseded records, overflow nodes, threads of one name, filtered threads, and counts near the
// end of what a record can hold.
class RandomProfiles {
 public:
  explicit RandomProfiles(unsigned seed) : random_(seed) {}

  SyntheticProfile Next(const std::string& meta, size_t metrics) {
    SyntheticProfile profile;
    profile.meta = meta;
    profile.header.metric_count = static_cast<uint32_t>(std::max<size_t>(metrics, 1));
    const std::vector<MethodId> methods = Methods(profile);
    const std::vector<MethodId> sites = Sites(profile);
    for (uint32_t t = 0, threads = Below(4); t <= threads; ++t) {
      const size_t thread =
          profile.AddThread(Below(2) ? "main" : fmt::format("worker-{}", Below(3)), t);
      if (Below(6) == 0) profile.threads[thread].flags |= kThreadFiltered;
      Grow(profile, profile.threads[thread].root, methods, sites, metrics);
    }
    return profile;
  }

 private:
  uint32_t Below(uint32_t limit) { return static_cast<uint32_t>(random_() % limit); }

  std::vector<MethodId> Methods(SyntheticProfile& profile) {
    std::vector<std::string> names = {"a", "b", "c", "d", "e"};
    std::ranges::shuffle(names, random_);
    std::vector<MethodId> methods = {profile.AddMethod("(unknown)", "method", "")};
    for (const std::string& name : names) {
      methods.push_back(profile.AddMethod("app/" + name, "run", "()V"));
      methods.push_back(profile.AddMethod("app/" + name, "run", "(I)V"));
    }
    methods.push_back(kOverflowMethod);
    return methods;
  }

  std::vector<MethodId> Sites(SyntheticProfile& profile) {
    if (!profile.meta.contains("sites")) return {};
    std::vector<MethodId> sites;
    for (const char* name : {"0:12", "7:12", "9:13", "9:0"})
      sites.push_back(profile.AddMethod("Run.java", name, "", kMethodSite));
    std::ranges::shuffle(sites, random_);
    return sites;
  }

  // Adds a site of a context, or returns the context itself.
  uint32_t SiteOf(SyntheticProfile& profile, uint32_t context, uint32_t root,
                  const std::vector<MethodId>& sites, size_t metrics) {
    if (sites.empty() || context == root || Below(3) == 0) return context;
    const MethodId site = sites[Below(static_cast<uint32_t>(sites.size()))];
    const uint32_t index = profile.AddNode(PackMethod(FrameKind::kSite, site), context);
    if (metrics > 0) profile.nodes[index].self = Below(50);
    return index;
  }

  void Grow(SyntheticProfile& profile, uint32_t root, const std::vector<MethodId>& methods,
            const std::vector<MethodId>& sites, size_t metrics) {
    std::vector<uint32_t> contexts = {root};
    for (uint32_t i = 0, count = Below(Below(8) == 0 ? 4000 : 200); i < count; ++i) {
      const uint32_t parent = contexts[Below(static_cast<uint32_t>(contexts.size()))];
      const auto type = static_cast<FrameKind>(1 + Below(4));
      const bool superseded = parent != root && Below(4) == 0;
      const MethodId method = superseded ? MethodOf(profile.nodes[parent].ref)
                                         : methods[Below(static_cast<uint32_t>(methods.size()))];
      const uint32_t caller = superseded ? parent : SiteOf(profile, parent, root, sites, metrics);
      const uint32_t index = profile.AddNode(PackMethod(type, method), caller);
      Node& node = profile.nodes[index];
      for (uint32_t* count_of : {node.entries, node.exits})
        for (const int k : {0, 1}) count_of[k] = Below(8) == 0 ? ~Below(9) : Below(5);
      node.dispatches = Below(8) == 0 ? ~0u : Below(3);
      if (metrics > 0) node.self = static_cast<int64_t>(random_() >> 20) - (int64_t{1} << 43);
      if (metrics > 1) profile.extra[index] = static_cast<int64_t>(Below(1000));
      if (superseded) {
        node.more = kSuperseded;
      } else {
        contexts.push_back(index);
      }
    }
  }

  std::mt19937_64 random_;
};

TEST_F(MergeTest, RandomProfilesGiveTheSumsOfTheOracle) {
  const struct {
    const char* meta;
    size_t metrics;
  } kinds[] = {
      {kTwoMetrics, 2}, {kSampled, 1}, {kCounted, 0}, {kSampledSites, 1}, {kCountedSites, 0}};
  for (unsigned seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    RandomProfiles random(seed);
    const auto& [meta, metrics] = kinds[seed % 5];
    const MergeThreads ways[] = {MergeThreads::kByName, MergeThreads::kKeep, MergeThreads::kMerge};
    options_ = {};
    options_.threads = ways[seed / 5 % 3];
    for (unsigned n = 0; n < 1 + seed % 7; ++n) {
      SyntheticProfile profile = random.Next(meta, metrics);
      Input(profile);
    }
    MergeAll();
    CheckAgainstOracle(meta == kSampled || meta == kSampledSites);
    fs::remove_all(options_.output);
    for (const std::string& input : options_.inputs) fs::remove_all(input);
  }
}

SyntheticProfile Simple(const std::string& meta = kTwoMetrics) {
  SyntheticProfile profile;
  profile.meta = meta;
  profile.header.metric_count = meta == kTwoMetrics ? 2 : 1;
  const MethodId method = profile.AddMethod("app/Main", "run", "()V");
  const size_t thread = profile.AddThread("main", 1);
  profile.Enter(thread, method, FrameKind::kInterpreted, 5);
  profile.Exit(thread, 100);
  return profile;
}

TEST_F(MergeTest, AnotherClockRateIsRescaledToTheFirst) {
  const std::string meta =
      R"({"mode":"callflow","metrics":[{"name":"time","unit":"ns","scale":SCALE,"kind":"time"}]})";
  for (const char* scale : {"1", "0.5"}) {
    std::string text = meta;
    SyntheticProfile profile = Simple(text.replace(text.find("SCALE"), 5, scale));
    Input(profile);
  }
  MergeAll();
  Reader reader = Open(options_.output);
  EXPECT_EQ(reader.ReadTree()->metrics[0], (std::vector<int64_t>{5 + 3, 100 + 50}));
  EXPECT_EQ(ReadSpread(reader, 1 << 20).ranges[3], (Range{50, 50, 100}));
}

TEST_F(MergeTest, GeneratedClassesAreTheSameWhateverTheirNumber) {
  for (const char* name : {"app/Main$$Lambda/0x7f10", "app/Main$$Lambda$4/0x0800"}) {
    SyntheticProfile profile;
    const MethodId lambda = profile.AddMethod(name, "run", "()V");
    const size_t thread = profile.AddThread("main", 1);
    profile.Enter(thread, lambda, FrameKind::kInterpreted, 5);
    profile.Exit(thread, 100);
    Input(profile);
  }
  MergeAll();
  Reader reader = Open(options_.output);
  const CallTree tree = reader.ReadTree().value();
  ASSERT_EQ(tree.size(), 2u);
  EXPECT_EQ(tree.counts[1].entries[0], 2u);
  EXPECT_EQ(reader.ReadMethods()[MethodOf(tree.ref[1])].class_name, "app/Main$$Lambda");
}

TEST_F(MergeTest, LossesOfMergedThreadsAreCountedEach) {
  for (int n = 0; n < 3; ++n) {
    SyntheticProfile profile = Simple();
    profile.threads[0].flags = n == 0 ? 0 : kThreadDisarmed | kThreadNotSampled | FlagsOfError(13);
    profile.threads[0].healed = 2;
    profile.header.lost_events = 7;
    profile.header.unwoven_methods = {static_cast<uint64_t>(n), "a.B.c"};
    Input(profile);
  }
  MergeAll();
  Reader reader = Open(options_.output);
  ASSERT_EQ(reader.threads().size(), 1u);
  std::map<std::string, uint64_t> losses;
  for (const Loss& loss : Losses(reader)) losses[std::string(loss.name)] = loss.count;
  EXPECT_EQ(losses["disarmed_threads"], 2u);
  EXPECT_EQ(losses["threads_not_sampled"], 2u);
  EXPECT_EQ(losses["healed"], 6u);
  EXPECT_EQ(losses["lost_events"], 21u);
  EXPECT_EQ(losses["unwoven_methods"], 2u);  // the runs have methods in common
  EXPECT_EQ(ErrorOfFlags(reader.threads()[0].record.flags), 13);
}

TEST_F(MergeTest, TheInputsAreListed) {
  SyntheticProfile first = Simple();
  SyntheticProfile second = Simple();
  second.header.finished = 0;
  Input(first);
  Input(second);
  const MergedMeta merged = MergeAll();
  Reader reader = Open(options_.output);
  EXPECT_EQ(ReadMerged(reader), merged);
  ASSERT_EQ(merged.inputs.size(), 2u);
  EXPECT_EQ(merged.inputs[0].path, options_.inputs[0]);
  EXPECT_EQ(merged.inputs[0].calls, 1u);
  EXPECT_TRUE(merged.inputs[0].finished);
  EXPECT_FALSE(merged.inputs[1].finished);
  EXPECT_EQ(reader.header().finished, 0u);
}

// Whichever is the first: times of a profile that timed few intervals stay estimates.
TEST_F(MergeTest, EstimatedTimesStayEstimates) {
  const auto merge = [&](std::vector<int> every) {
    options_ = {};
    for (const int n : every) {
      SyntheticProfile profile = Simple();
      profile.meta.insert(1, fmt::format(R"("options":{{"time_every":{}}},)", n));
      Input(profile);
    }
    const size_t notices = MergeAll().notices.size();
    const uint64_t merged = Open(options_.output).meta().options.time_every;
    fs::remove_all(options_.output);
    for (const std::string& input : options_.inputs) fs::remove_all(input);
    return std::pair(merged, notices);
  };
  EXPECT_EQ(merge({16, 16}), std::pair(uint64_t{16}, size_t{0}));
  EXPECT_EQ(merge({1, 16}), std::pair(uint64_t{16}, size_t{1}));
  EXPECT_EQ(merge({100, 1, 16}), std::pair(uint64_t{100}, size_t{1}));
}

TEST_F(MergeTest, CalibrationStaysOnlyIfItFitsAll) {
  const auto merge = [&](std::array<std::string, 2> tables, const char* fingerprint) {
    options_ = {};
    for (int n = 0; n < 2; ++n) {
      SyntheticProfile profile = Simple();
      profile.meta.insert(
          1, fmt::format(R"("fingerprint":{{"cpu":"{}"}},)", n == 0 ? "first" : fingerprint));
      profile.calibration = tables[n];
      Input(profile);
    }
    const size_t notices = MergeAll().notices.size();
    const Reader reader = Open(options_.output);
    const auto result =
        std::tuple(reader.ReadCalibration(), reader.meta().fingerprint.size(), notices);
    fs::remove_all(options_.output);
    for (const std::string& input : options_.inputs) fs::remove_all(input);
    return result;
  };
  EXPECT_EQ(merge({"{1}", "{1}"}, "first"), std::tuple("{1}", 1u, 0u));
  EXPECT_EQ(merge({"{1}", "{2}"}, "first"), std::tuple("", 1u, 1u));
  EXPECT_EQ(merge({"{1}", "{1}"}, "other"), std::tuple("", 0u, 1u));
}

TEST_F(MergeTest, TimesAreEstimatesIfThoseOfAnyInputAre) {
  for (const std::array<int, 2> every : {std::array{1, 16}, std::array{16, 1}}) {
    options_ = {};
    for (const int n : every) {
      SyntheticProfile profile = Simple();
      profile.meta.insert(1, fmt::format(R"("options":{{"time_every":{}}},)", n));
      Input(profile);
    }
    MergeAll();
    EXPECT_EQ(Open(options_.output).meta().options.time_every, 16u);
    fs::remove_all(options_.output);
    for (const std::string& input : options_.inputs) fs::remove_all(input);
  }
}

TEST_F(MergeTest, RefusesWhatCannotBeAdded) {
  const auto contains = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  SyntheticProfile flow = Simple();
  Input(flow);
  options_.inputs.push_back(options_.inputs[0] + "/../in1/");
  contains(Refusal(), "the same profile");

  const auto with = [&](const std::string& meta) {
    options_.inputs.resize(1);
    SyntheticProfile profile = Simple(meta);
    if (meta.find("cycles") != std::string::npos) profile.header.metric_count = 2;
    Input(profile);
    return Refusal();
  };
  contains(with(kSampled), "of mode scs: merge profiles of one mode");
  contains(with(R"({"mode":"trace","metrics":[{"name":"time"}]})"), "a profile of mode trace");
  contains(with(R"({"mode":"callflow","metrics":[{"name":"time","unit":"ns","kind":"time"}]})"),
           "has the metrics time, cycles and");
  contains(with(R"({"mode":"calltree","metrics":[{"name":"cpu","kind":"samples"}]})"),
           "with samples");
  contains(
      with(R"({"mode":"callflow","metrics":[{"name":"time","unit":"us","scale":1,"kind":"time"},
{"name":"cycles","unit":"events","scale":1,"kind":"count"}]})"),
      "the metric time of");

  options_.inputs = {Path("in1"), Path("none")};
  contains(Refusal(), Path("none"));

  options_.inputs = {Path("in1")};
  for (const char* output : {"in1", ".", "in1/below"}) {
    options_.output = Path(output);
    const auto merged = Merge(options_);
    ASSERT_FALSE(merged);
    contains(merged.error().message, "is, contains or is inside the input");
  }
}

TEST_F(MergeTest, AFailureLeavesNothingBehind) {
  SyntheticProfile profile = Simple();
  Input(profile);
  options_.make_room = [] { return Result<void>(Fail("no room")); };
  options_.output = Path("out");
  const auto merged = Merge(options_);
  ASSERT_FALSE(merged);
  EXPECT_EQ(merged.error().message, "no room");
  EXPECT_EQ(std::distance(fs::directory_iterator(directory_), {}), 1) << "only the input";
}

}  // namespace
}  // namespace jprof::profile
