// Reads trees with sites.
#include <gtest/gtest.h>
#include <unistd.h>

#include <random>

#include "profile/read/reader.h"
#include "tests/unit/profile/synthetic_profile.h"

namespace jprof::profile {
namespace {

namespace fs = std::filesystem;

class SitesTest : public testing::Test {
 protected:
  SitesTest() : directory_(fs::path(testing::TempDir()) / ("sites-" + std::to_string(getpid()))) {
    fs::remove_all(directory_);
  }
  ~SitesTest() override { fs::remove_all(directory_); }

  CallTree Read(SyntheticProfile& profile, Sites sites) {
    fs::remove_all(directory_);
    profile.Write(directory_);
    auto reader = Reader::Open(directory_.string());
    EXPECT_TRUE(reader);
    auto tree = reader->ReadTree(ReadingMemory(), sites);
    EXPECT_TRUE(tree);
    EXPECT_EQ(reader->damages().Lines(), std::vector<std::string>());
    return *std::move(tree);
  }

  const fs::path directory_;
};

void HaveSites(SyntheticProfile& profile) {
  constexpr std::string_view kOption = "\"fold_recursion\":false";
  profile.meta.replace(profile.meta.find(kOption), kOption.size(), "\"sites\":true");
}

// main calls `run` from two places; `run` was sampled at one.
TEST_F(SitesTest, AreFoldedOrKeptApartOrNodes) {
  SyntheticProfile profile;
  HaveSites(profile);
  const MethodId main = profile.AddMethod("app/Main", "main", "()V");
  const MethodId run = profile.AddMethod("app/Main", "run", "()V");
  const MethodId first = profile.AddMethod("Main.java", "4:10", "", kMethodSite);
  const MethodId second = profile.AddMethod("Main.java", "9:11", "", kMethodSite);
  const size_t thread = profile.AddThread("main", 1);
  profile.Enter(thread, main, FrameKind::kInterpreted, 1);
  for (const auto& [site, calls] : {std::pair(first, 2), std::pair(second, 3)}) {
    profile.site = site;
    for (int i = 0; i < calls; ++i) {
      profile.Enter(thread, run, FrameKind::kInterpreted, 10);
      profile.Exit(thread, 100);
    }
  }
  const uint32_t sampled = profile.AddNode(PackMethod(FrameKind::kSite, second),
                                           static_cast<uint32_t>(profile.nodes.size() - 1));
  profile.nodes[sampled].self = 7;
  profile.site = kRootMethod;
  profile.Exit(thread, 5);

  const CallTree folded = Read(profile, Sites::kFolded);
  ASSERT_EQ(folded.size(), 3u);  // the thread, main, run
  EXPECT_EQ(MethodOf(folded.ref[2]), run);
  EXPECT_EQ(folded.counts[2].entries[0] + folded.counts[2].entries[1], 5u);
  EXPECT_EQ(folded.metrics[0][2], 507);
  EXPECT_TRUE(folded.site.empty());

  const CallTree apart = Read(profile, Sites::kApart);
  ASSERT_EQ(apart.size(), 5u);  // run twice, and what was sampled in the second one
  EXPECT_EQ(apart.site, (std::vector{kRootMethod, kRootMethod, first, second, second}));
  EXPECT_EQ(apart.parent[2], 1u);
  EXPECT_EQ(apart.parent[3], 1u);
  EXPECT_EQ(apart.counts[3].entries[0] + apart.counts[3].entries[1], 3u);
  EXPECT_TRUE(apart.superseded[4]);
  EXPECT_EQ(apart.parent[4], 3u);
  EXPECT_EQ(apart.metrics[0][4], 7);

  const CallTree nodes = Read(profile, Sites::kNodes);
  ASSERT_EQ(nodes.size(), 7u);
  EXPECT_EQ(TypeOf(nodes.ref[2]), FrameKind::kSite);
  EXPECT_EQ(nodes.parent[3], 2u);
}

// Whatever the sites are, the folded tree is that of a recording without sites.
TEST_F(SitesTest, FoldedTreeIsThatWithoutSites) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    SyntheticProfile with, without;
    HaveSites(with);
    std::vector<MethodId> sites;
    for (const char* name : {"1:2", "3:4", "5:0"})
      sites.push_back(with.AddMethod("", name, "", kMethodSite));
    std::vector<MethodId> methods[2];
    for (const char* name : {"a", "b", "c"}) {
      methods[0].push_back(with.AddMethod("A", name, "()V"));
      methods[1].push_back(without.AddMethod("A", name, "()V"));
    }
    with.AddThread("main", 1);
    without.AddThread("main", 1);
    const auto below = [&](size_t limit) { return random() % limit; };
    for (int event = 0, depth = 0; event < 2000; ++event) {
      const auto delta = static_cast<int64_t>(below(100));
      if (depth == 0 || (depth < 9 && below(2) == 0)) {
        const size_t method = below(3);
        const auto kind = static_cast<FrameKind>(1 + below(3));
        with.site = depth == 0 || below(4) == 0 ? kRootMethod : sites[below(3)];
        with.Enter(0, methods[0][method], kind, delta);
        without.Enter(0, methods[1][method], kind, delta);
        ++depth;
      } else {
        with.Exit(0, delta);
        without.Exit(0, delta);
        --depth;
      }
    }
    const auto sums = [](const CallTree& tree, uint32_t first_method) {
      std::map<std::string, std::array<int64_t, 5>> of_path;
      std::vector<std::string> paths;
      for (size_t i = 0; i < tree.size(); ++i) {
        paths.push_back(tree.parent[i] == kNoRecord ? ""
                        : tree.superseded[i]
                            ? paths[tree.parent[i]]
                            : paths[tree.parent[i]] +
                                  std::to_string(IndexOf(MethodOf(tree.ref[i])) - first_method));
        auto& sum = of_path[paths[i]];
        sum[0] += !tree.superseded[i];
        sum[1] += tree.counts[i].entries[0];
        sum[2] += tree.counts[i].entries[1];
        sum[3] += tree.counts[i].exits[0] + int64_t{tree.counts[i].exits[1]};
        sum[4] += tree.metrics[0][i];
      }
      return of_path;
    };
    EXPECT_EQ(sums(Read(with, Sites::kFolded), IndexOf(methods[0][0])),
              sums(Read(without, Sites::kFolded), IndexOf(methods[1][0])));
  }
}

}  // namespace
}  // namespace jprof::profile
