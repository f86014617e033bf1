// Profiles of pprof that the test writes, and damaged ones.
#include <gtest/gtest.h>

#include "tests/unit/import/imported_samples.h"
#include "tests/unit/import/pprof_writer.h"

namespace jprof::profile {
namespace {

TEST(Pprof, InlinedFramesThreadsAndPeriod) {
  for (const bool packed : {true, false}) {
    ImportedSamples read(made::Pprof(packed));
    ASSERT_EQ(read.error(), "");
    const std::string java =
        "R app/Main.main@0:7;R app/Work.run@Work.java:0:42;L app/Work.step(I)V@Work.java:0:5";
    EXPECT_EQ(read.stacks(), (std::map<std::string, int64_t>{
                                 {"worker;" + java, 3},
                                 {"(all threads);" + java + ";F /lib/libc.so.6.malloc", 1}}));
    const Metric& metric = read.run().meta.metrics.at(0);
    EXPECT_EQ(metric.period.value, 10'000'000u);
    EXPECT_TRUE(metric.is_cpu_samples());
    EXPECT_EQ(read.run().start_unix_ns, 1'700'000'000'000'000'000u);
    EXPECT_TRUE(read.HasNote("values of the type cpu are not imported"));
  }
}

TEST(Pprof, TimeIsDividedByThePeriod) {
  ImportedSamples read(made::Pprof(), {.event = "cpu"});
  ASSERT_EQ(read.error(), "");
  EXPECT_EQ(read.tree().samples(), 4u);
  EXPECT_TRUE(
      ImportedSamples(made::Pprof(), {.event = "x"}).error().contains("it has: samples, cpu"));
}

TEST(Pprof, DamageIsAnError) {
  const std::string good = made::Pprof();
  EXPECT_EQ(ImportedSamples(good + "\x0a\x7f", {}, "pprof").error().substr(0, 13), "test: offset ");
  const std::string location =
      good + made::Bytes(2, made::Bytes(1, made::Varint(99)) + made::Bytes(2, made::Varint(1)));
  EXPECT_EQ(ImportedSamples(location).error(), "test: it is damaged: location 99 is missing");
  EXPECT_TRUE(ImportedSamples("not a profile", {}, "pprof").error() != "");
}

}  // namespace
}  // namespace jprof::profile
