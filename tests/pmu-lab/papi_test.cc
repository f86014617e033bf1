// Compares jprof's count of a section of code with PAPI's, in the PMU lab.
#include <gtest/gtest.h>
#include <papi.h>

#include "ptm/names/event_name.h"
#include "tests/pmu-lab/loop.h"

namespace jprof::pmu_lab {
namespace {

class PapiTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const auto event = ptm::CheckEvent(GetParam());
    ASSERT_TRUE(event.has_value()) << event.error().message;
    ASSERT_FALSE(ours_.Open({&event->spec, 1}).Failed());
    int code = 0;
    ASSERT_EQ(PAPI_create_eventset(&theirs_), PAPI_OK);
    ASSERT_EQ(PAPI_event_name_to_code(GetParam(), &code), PAPI_OK);
    ASSERT_EQ(PAPI_add_event(theirs_, code), PAPI_OK);
    ASSERT_EQ(PAPI_start(theirs_), PAPI_OK);
  }
  void TearDown() override {
    PAPI_stop(theirs_, nullptr);
    PAPI_cleanup_eventset(theirs_);
    PAPI_destroy_eventset(&theirs_);
  }

  int64_t ReadPapi() {
    long long value = 0;
    EXPECT_EQ(PAPI_read(theirs_, &value), PAPI_OK);
    return value;
  }

  // Both over one section: jprof's reads are between PAPI's, so that PAPI's count includes them.
  struct Both {
    int64_t ours, papis;
  };
  [[gnu::noinline]] Both Count(uint64_t turns) {
    const int64_t papis = ReadPapi();
    const int64_t ours = CountTurns(ours_, turns);
    return {ours, ReadPapi() - papis};
  }

  ptm::EventGroup ours_;
  int theirs_ = PAPI_NULL;
};

TEST_P(PapiTest, CountsTheSame) {
  Count(1);
  const Both empty = Count(1);
  for (const uint64_t turns : {1000u, 1'000'000u, 20'000'000u}) {
    const Both both = Count(turns);
    EXPECT_EQ(both.papis - empty.papis, both.ours - empty.ours) << turns << " turns";
    EXPECT_EQ(both.ours - empty.ours, static_cast<int64_t>(turns - 1) * kPerTurn);
  }
  printf("lab: %s: PAPI_read and ours differ by %lld on every stretch: what reading takes\n",
         GetParam(), static_cast<long long>(empty.papis - empty.ours));
}

INSTANTIATE_TEST_SUITE_P(Lab, PapiTest, testing::Values("PAPI_TOT_INS"));

}  // namespace
}  // namespace jprof::pmu_lab
