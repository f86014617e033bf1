// Compares the model with the oracles on the addresses that valgrind's tool lackey sees of a
// program in C.
#include <gtest/gtest.h>

#include <cinttypes>
#include <cstdio>
#include <memory>

#include "cpo/model/page_model.h"
#include "cpo/model/reuse_distance.h"
#include "tests/unit/cpo/oracle.h"

namespace jprof::cpo {
namespace {

struct Trace {
  std::vector<uint64_t> addresses;
  uint64_t looped = 0, random = 0;  // arrays of walk.c
};

constexpr uint64_t kArray = 8u << 20;  // kBytes of walk.c

Trace RunLackey() {
  Trace trace;
  const std::unique_ptr<FILE, int (*)(FILE*)> output(
      popen("valgrind --tool=lackey --trace-mem=yes --log-fd=1 " JPROF_CPO_WALK " 2>/dev/null",
            "r"),
      pclose);
  char line[256];
  while (output != nullptr && fgets(line, sizeof line, output.get()) != nullptr) {
    uint64_t address = 0;
    unsigned size = 0;
    char kind = 0;
    if (sscanf(line, " %c %" SCNx64 ",%u", &kind, &address, &size) == 3) {
      if (kind != 'I') trace.addresses.push_back(address);
    } else {
      sscanf(line, "0x%" SCNx64 " 0x%" SCNx64, &trace.looped, &trace.random);
    }
  }
  return trace;
}

const Trace& LackeyTrace() {
  static const Trace trace = RunLackey();
  return trace;
}

class Lackey : public testing::Test {
 protected:
  void SetUp() override {
#ifdef JPROF_SANITIZED
    GTEST_SKIP() << "valgrind cannot run programs with sanitizers";
#endif
    if (system("valgrind --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "there is no valgrind";
    ASSERT_GT(LackeyTrace().addresses.size(), 30'000u);
    ASSERT_NE(LackeyTrace().random, 0u);
  }
};

TEST_F(Lackey, ReuseDistancesMissAsAListDoes) {
  PageReuse reuse;
  for (const uint64_t address : LackeyTrace().addresses) reuse.Touch(address);
  for (const int shift : PageReuse::kShifts) {
    std::vector<uint64_t> pages;
    for (const uint64_t address : LackeyTrace().addresses) pages.push_back(address >> shift);
    for (const uint64_t size : {1u, 4u, 16u, 64u, 1536u}) {
      EXPECT_EQ(reuse.Of(shift).Misses(size), oracle::Misses(pages, size)) << shift << ", " << size;
    }
  }
}

bool IsWithin(uint64_t address, uint64_t start, uint64_t size) {
  return address >= start && address - start < size;
}

// The arrays are groups that stay where they are, so that only whole blocks inside become large.
bool IsLarge(uint64_t address, uint64_t array) {
  const uint64_t block = address & ~(kLargePage - 1);
  return IsWithin(block, array, kArray) && IsWithin(block + kLargePage - 1, array, kArray);
}

TEST_F(Lackey, TheModelWalksAsTheOracleDoes) {
  const Trace& trace = LackeyTrace();
  const std::vector<Group> groups = {{"looped"}, {"random"}};
  const std::vector<Placement> placements = {{trace.looped, kArray, 0, kForever, 0},
                                             {trace.random, kArray, 0, kForever, 1}};
  for (const char* text : {"l1=64/full,l2=2048/8", "l1-4k=64/4,l1-2m=32/4,l2=1536/12",
                           "l1=16/full,l2=128/4", "l1=32/1,l2=128/full", "l1=8/2"}) {
    StoredReferences references({oracle::ReferencesTo(trace.addresses)}), faults({});
    ModelOptions options;
    options.tlb = ParseTlb(text).value();
    const auto model = PageModel::Load(groups, placements, references, faults, options).value();
    for (const std::vector<uint32_t>& set :
         std::vector<std::vector<uint32_t>>{{}, {0}, {1}, {0, 1}}) {
      oracle::TimedTlb tlb(options.tlb);
      uint64_t walks = 0, first_misses = 0;
      for (const uint64_t address : trace.addresses) {
        const bool large = std::ranges::any_of(set, [&](uint32_t group) {
          return IsLarge(address, group == 0 ? trace.looped : trace.random);
        });
        const int level = tlb.Touch(address >> (large ? kLargeShift : kSmallShift), large);
        first_misses += level > 0;
        walks += level == 2;
      }
      const PagePrediction prediction = model.Predict(set);
      EXPECT_EQ(prediction.walks, walks) << text << ", " << set.size() << " groups";
      EXPECT_EQ(prediction.first_misses, first_misses) << text << ", " << set.size() << " groups";
    }
  }
}

}  // namespace
}  // namespace jprof::cpo
