#include "cpo/model/traced_pages.h"

#include <gtest/gtest.h>

#include "cpo/model/translations.h"
#include "tests/unit/cpo/oracle.h"

namespace jprof::cpo {
namespace {

constexpr uint64_t kBase = 8 * kLargePage;

struct Layout {
  std::vector<Group> groups;
  std::vector<Placement> placements;
};

TracedPages Traced(const Layout& layout, std::vector<std::vector<Reference>> bursts) {
  StoredReferences references(std::move(bursts));
  const Blocks blocks(layout.groups, layout.placements);
  return TracePages(references, layout.placements, blocks).value();
}

std::vector<uint32_t> GroupsOf(const TracedPages& traced) {
  std::vector<uint32_t> groups;
  for (const uint32_t index : traced.order) groups.push_back(traced.pages[index].group);
  return groups;
}

TEST(TracedPages, RepeatedPagesAreOnlyCounted) {
  const TracedPages traced = Traced(
      {}, {{{kBase, 0}, {kBase + 8, 1}, {kBase + kSmallPage, 2}, {kBase, 3}}, {}, {{kBase, 4}}});
  EXPECT_EQ(traced.order, (std::vector<uint32_t>{0, 1, 0}));
  ASSERT_EQ(traced.bursts.size(), 2u);  // the empty one is left out
  EXPECT_EQ(traced.bursts[0].references, 4u);
  EXPECT_EQ(traced.bursts[1].references, 1u);
  EXPECT_EQ(traced.bursts[1].end, 3u);
  EXPECT_EQ(traced.pages[0].small, kBase / kSmallPage);
  EXPECT_EQ(traced.pages[0].group, kNoGroup);
}

TEST(TracedPages, APageIsOfTheGroupThatItHadAtTheTime) {
  const Layout layout{{{"a"}, {"b"}},
                      {{kBase, kLargePage, 0, 10, 0}, {kBase, kLargePage, 10, kForever, 1}}};
  EXPECT_EQ(GroupsOf(Traced(layout, {{{kBase, 5}, {kBase, 15}}})), (std::vector<uint32_t>{0, 1}));
  // A burst of another thread begins earlier than the one before it ended.
  EXPECT_EQ(GroupsOf(Traced(layout, {{{kBase, 5}, {kBase, 15}}, {{kBase, 6}}})),
            (std::vector<uint32_t>{0, 1, 0}));
}

TEST(TracedPages, TwoPlacementsMaySharePages) {
  const Layout layout{{{"a"}, {"b"}},
                      {{kBase, 100, 0, kForever, 0}, {kBase + 100, 100, 0, kForever, 1}}};
  const std::vector<Reference> burst = {
      {kBase, 0}, {kBase + 100, 1}, {kBase + 99, 2}, {kBase + 200, 3}};
  EXPECT_EQ(GroupsOf(Traced(layout, {burst})), (std::vector<uint32_t>{0, 1, 0, kNoGroup}));
}

// With few references all translations are in the sample, so that arrays that are fully associative
// must miss as the simulated ones do.
TEST(Translations, ASampleOfAllIsTheSimulation) {
  std::vector<uint64_t> addresses;
  uint64_t state = 5;
  for (int count = 0; count < 20'000; ++count) {
    addresses.push_back(kBase + NextRandom(state) % (200 * kLargePage));
    if (count % 3 == 0) addresses.back() = kBase + NextRandom(state) % (80 * kSmallPage);
  }
  const Layout layout{{{"small"}, {"large"}},
                      {{kBase, 10 * kLargePage, 0, kForever, 0},
                       {kBase + 10 * kLargePage, 190 * kLargePage, 0, kForever, 1}}};
  const TracedPages traced = Traced(layout, {oracle::ReferencesTo(addresses)});
  for (const char* text :
       {"l1-4k=64/full,l1-2m=32/full", "l1-4k=40/full,l1-2m=100/full", "l1=64/full"}) {
    const TlbGeometry tlb = ParseTlb(text).value();
    for (const std::vector<bool>& is_large :
         {std::vector{false, false}, std::vector{false, true}}) {
      const BurstMisses exact = CountMisses(traced, is_large, tlb);
      const BurstMisses estimated = EstimateMisses(traced, is_large, tlb);
      EXPECT_EQ(estimated.first_misses, exact.first_misses) << text;
      EXPECT_EQ(estimated.walks, exact.walks) << text;
    }
  }
}

}  // namespace
}  // namespace jprof::cpo
