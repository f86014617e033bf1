// How far numbers can be trusted: each fact absent, present and at its limits; the grade; the line
// of the head.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "model/tree/forest.h"
#include "model/tree/sparse_time.h"
#include "profile/read/losses.h"
#include "reports/print/units.h"
#include "reports/quality/explain.h"
#include "reports/quality/head.h"
#include "reports/quality/quality_of.h"
#include "tests/unit/reports/combined_profile.h"

namespace jprof::reports {
namespace {

namespace fs = std::filesystem;
using enum Severity;

fs::path QualityDirectory() {
  return fs::path(testing::TempDir()) / ("quality-" + std::to_string(getpid()) + ".jprof");
}

Fact Of(Severity severity, std::string text) {
  return {"x", 1, severity, std::move(text), "", "", ""};
}

Quality Made(std::vector<Fact> facts) {
  Quality quality;
  quality.Add(std::move(facts));
  return quality;
}

// Returns the facts of a profile that is written, opened and removed.
template <typename Profile>
Quality FactsOf(Profile made, std::optional<calibrate::Table> table = {},
                const std::string& table_from = "table") {
  const fs::path directory = QualityDirectory();
  made.Write(directory);
  auto reader = profile::Reader::Open(directory);
  EXPECT_TRUE(reader);
  model::Source source{std::move(*reader), std::move(table), table_from, "no table"};
  source.merged = profile::ReadMerged(source.reader);
  auto forest = model::LoadForest(source, {});
  EXPECT_TRUE(forest);
  Quality quality = QualityOf(source, *forest);
  fs::remove_all(directory);
  return quality;
}

const Fact* FactNamed(const Quality& quality, std::string_view name) {
  const auto found = std::ranges::find(quality.facts, name, &Fact::name);
  return found == quality.facts.end() ? nullptr : &*found;
}

TEST(Duration, HasThreeSignificantDigits) {
  EXPECT_EQ(Duration(0), "0 ns");
  EXPECT_EQ(Duration(4.3), "4.30 ns");
  EXPECT_EQ(Duration(999.4), "999 ns");
  EXPECT_EQ(Duration(999.6), "1.00 us");
  EXPECT_EQ(Duration(36.4e6), "36.4 ms");
  EXPECT_EQ(Duration(364.4e6), "364 ms");
  EXPECT_EQ(Duration(-1.52e9), "-1.52 s");
  EXPECT_EQ(Duration(1234e9), "1234 s");
}

TEST(Quality, TheGradeIsThatOfTheWorstFact) {
  EXPECT_EQ(QualityText({}), "good");
  EXPECT_EQ(QualityText(Made({Of(kInfo, "all is well")})), "good");
  EXPECT_EQ(QualityText(Made({Of(kInfo, "a"), Of(kMinor, "b")})), "good, but: b");
  EXPECT_EQ(QualityText(Made({Of(kMinor, "b"), Of(kMajor, "c")})), "fair: c; b");
  EXPECT_EQ(QualityText(Made({Of(kMajor, "c"), Of(kSevere, "d"), Of(kMinor, "b")})),
            "poor: d; c; b");
}

TEST(Quality, TheLineHasThreeFactsAtMost) {
  std::vector<Fact> facts;
  for (int i = 0; i < 7; ++i) facts.push_back(Of(kMinor, fmt::format("fact {}", i)));
  EXPECT_EQ(QualityText(Made(facts)), "good, but: fact 0; fact 1; fact 2; and 4 more");
}

TEST(Quality, LongAndHostileTextsStayOneReadableLine) {
  const std::string hostile = "\x1b[2Jlib\n" + std::string(5000, 'x') + "\xe2\x80\xae.so";
  const std::string text = QualityText(Made({Of(kMinor, hostile)}));
  EXPECT_LT(text.size(), 110u);
  EXPECT_TRUE(
      std::ranges::none_of(text, [](char c) { return static_cast<unsigned char>(c) < ' '; }));
  EXPECT_FALSE(text.contains("\xe2\x80\xae"));
  // Characters of several bytes are not cut.
  std::string umlauts;
  for (int i = 0; i < 100; ++i) umlauts += "\xc3\xa4";
  const std::string cut = QualityText(Made({Of(kMinor, umlauts)}));
  EXPECT_EQ(profile::CleanText(cut), cut);
  EXPECT_FALSE(cut.contains("\xef\xbf\xbd")) << cut;
}

TEST(Quality, LimitsAreInclusive) {
  const Limits limits = {.minor = 0.01, .major = 0.1, .severe = 0.5};
  EXPECT_EQ(Graded(0.0099, limits), kInfo);
  EXPECT_EQ(Graded(0.01, limits), kMinor);
  EXPECT_EQ(Graded(0.0999, limits), kMinor);
  EXPECT_EQ(Graded(0.1, limits), kMajor);
  EXPECT_EQ(Graded(0.5, limits), kSevere);
}

// A profile of 1000 samples, `outside` of them in no Java method and `unnamed` of them in a module
// without symbols, below a Java method.
SampledProfile Samples(int samples, int outside = 0, int unnamed = 0) {
  SampledProfile made(kTimeMetrics, 1);
  const profile::MethodId java = made.made.AddMethod("C", "m", "()V");
  const profile::MethodId kernel =
      made.made.AddMethod("vmlinux", "ksys_read", "", profile::kMethodKernel);
  const profile::MethodId code =
      made.made.AddMethod("/nowhere/libdemo.so", "0x10", "", profile::kMethodCode);
  const size_t thread = made.made.AddThread("main", 100);
  const auto add = [&](const std::vector<Frame>& stack, int count) {
    for (int i = 0; i < count; ++i) made.Sample(thread, stack, {1});
  };
  add({{kernel, FrameKind::kOther}}, outside);
  add({{java}, {code, FrameKind::kFunction}}, unnamed);
  add({{java}}, samples - outside - unnamed);
  return made;
}

struct StackCase {
  const char* name;
  std::function<SampledProfile()> make;
  std::optional<Severity> expected;  // none if there is no such fact
};

SampledProfile With(const std::function<void(profile::SyntheticProfile& made)>& change) {
  SampledProfile made = Samples(1000);
  change(made.made);
  return made;
}

SampledProfile WithThread(uint64_t profile::ThreadRecord::*member, uint64_t value) {
  return With([&](profile::SyntheticProfile& made) { made.threads[0].*member = value; });
}

SampledProfile Covering(uint64_t cpu_ms, uint64_t covered_ms) {
  return With([&](profile::SyntheticProfile& made) {
    made.header.sampled_cpu_ns = cpu_ms * 1'000'000;
    made.header.signalled_cpu_ns = covered_ms * 1'000'000;
  });
}

SampledProfile Taking(uint64_t ticks) {
  return With([&](profile::SyntheticProfile& made) {
    made.header.sampled_cpu_ns = made.header.signalled_cpu_ns = 1'000'000'000;
    made.threads[0].sampling_ticks = ticks;
  });
}

TEST(Quality, FactsAboutStacksAtTheirLimits) {
  using Thread = profile::ThreadRecord;
  const StackCase cases[] = {
      {"covered", [] { return Samples(1000); }, {}},
      {"covered", [] { return Covering(1000, 1000); }, kInfo},
      {"covered", [] { return Covering(1000, 900); }, kInfo},
      {"covered", [] { return Covering(1000, 899); }, kMajor},
      {"covered", [] { return Covering(1000, 501); }, kMajor},
      {"covered", [] { return Covering(1000, 499); }, kSevere},
      {"samples", [] { return Samples(100); }, kInfo},
      {"samples", [] { return Samples(99); }, kMajor},
      {"samples", [] { return Samples(10); }, kMajor},
      {"samples", [] { return Samples(9); }, kSevere},
      {"without_java", [] { return Samples(1000, 0); }, {}},
      {"without_java", [] { return Samples(1000, 99); }, kInfo},
      {"without_java", [] { return Samples(1000, 100); }, kMinor},
      {"without_java", [] { return Samples(1000, 500); }, kMajor},
      {"without_symbols", [] { return Samples(1000); }, {}},
      {"without_symbols", [] { return Samples(1000, 0, 9); }, kInfo},
      {"without_symbols", [] { return Samples(1000, 0, 10); }, kMinor},
      {"without_symbols", [] { return Samples(1000, 0, 200); }, kMajor},
      {"unknown_frames", [] { return Samples(1000); }, {}},
      {"unknown_frames", [] { return WithThread(&Thread::samples_unknown, 9); }, kInfo},
      {"unknown_frames", [] { return WithThread(&Thread::samples_unknown, 10); }, kMinor},
      {"unknown_frames", [] { return WithThread(&Thread::samples_unknown, 100); }, kMajor},
      {"cut_stacks", [] { return Samples(1000); }, {}},
      {"cut_stacks", [] { return WithThread(&Thread::samples_truncated, 9); }, kInfo},
      {"cut_stacks", [] { return WithThread(&Thread::samples_truncated, 10); }, kMinor},
      {"cut_stacks", [] { return WithThread(&Thread::samples_truncated, 100); }, kMajor},
      {"in_heap", [] { return Samples(1000); }, {}},
      {"in_heap", [] { return With([](auto& made) { made.header.samples_in_heap = 10; }); },
       kMinor},
      {"in_heap", [] { return With([](auto& made) { made.header.samples_in_heap = 200; }); },
       kMajor},
      {"own_stacks", [] { return Samples(1000); }, {}},
      {"own_stacks", [] { return WithThread(&Thread::samples_own, 100); }, kInfo},
      {"own_stacks", [] { return WithThread(&Thread::samples_own, 112); }, kMinor},
      {"samples_lost", [] { return Samples(1000); }, {}},
      {"samples_lost", [] { return WithThread(&Thread::samples_lost, 10); }, kMinor},
      {"samples_lost", [] { return WithThread(&Thread::samples_lost, 11); }, kMajor},
      {"samples_lost", [] { return WithThread(&Thread::samples_lost, 334); }, kSevere},
      {"sampling_cost", [] { return Samples(1000); }, {}},
      {"sampling_cost", [] { return Taking(199'000'000); }, kInfo},
      {"sampling_cost", [] { return Taking(200'000'000); }, kMinor},
      {"sampling_cost", [] { return Taking(1'000'000'000); }, kMajor},
  };
  for (const StackCase& one : cases) {
    const Quality quality = FactsOf(one.make());
    const Fact* fact = FactNamed(quality, one.name);
    EXPECT_EQ(fact == nullptr, !one.expected.has_value())
        << one.name << " " << QualityText(quality);
    if (fact == nullptr || !one.expected) continue;
    EXPECT_EQ(NameOf(fact->severity), NameOf(*one.expected)) << one.name << ": " << fact->text;
  }
}

TEST(Quality, ModulesWithoutSymbolsAreNamedLargestFirst) {
  const Quality quality = FactsOf(Samples(1000, 0, 123));
  const Fact* fact = FactNamed(quality, "without_symbols");
  ASSERT_NE(fact, nullptr);
  EXPECT_EQ(fact->text, "12.3 % of samples in 1 module without symbols: libdemo.so");
  EXPECT_EQ(fact->detail, "/nowhere/libdemo.so 12.3 %");
}

TEST(Quality, FactsAboutTheRun) {
  const auto with = [](const std::function<void(profile::SyntheticProfile&)>& change) {
    profile::SyntheticProfile made = DemoProfile();
    change(made);
    return FactsOf(made, DemoTable());
  };
  const auto severity = [](const Quality& quality, const char* name) {
    const Fact* fact = FactNamed(quality, name);
    return fact == nullptr ? "none" : NameOf(fact->severity);
  };
  const Quality plain = with([](auto&) {});
  for (const char* name : {"damaged", "unfinished", "probe", "folded", "intrinsics", "merged"})
    EXPECT_EQ(severity(plain, name), "none");
  EXPECT_EQ(FactNamed(plain, "open_calls")->text, "2 calls had not returned");
  EXPECT_EQ(FactNamed(plain, "healed")->text, "1 frame was found gone");
  EXPECT_EQ(severity(with([](auto& made) { made.header.finished = 0; }), "unfinished"), "major");
  EXPECT_EQ(severity(with([](auto& made) { made.header.folded_ticks = 5000; }), "folded"), "minor");
  EXPECT_EQ(severity(with([](auto& made) { made.nodes.back().parent = 1u << 30; }), "damaged"),
            "severe");
  EXPECT_EQ(severity(with([](auto& made) {
                       made.AddMethod("java/lang/Math", "max", "(II)I", profile::kMethodIntrinsic);
                     }),
                     "intrinsics"),
            "minor");
  EXPECT_EQ(severity(with([](auto& made) {
                       const std::string empty = R"("note":"")";
                       made.meta.replace(made.meta.find(empty), empty.size(), R"("note":"slow")");
                     }),
                     "probe"),
            "minor");
}

// Returns a profile that has timed one interval in 16: a method of 4,000 calls of 10 ns, called by
// another one in whose 4,001 intervals 5 ns pass each.
profile::SyntheticProfile SparselyTimed() {
  profile::SyntheticProfile made;
  const profile::MethodId main = made.AddMethod("Demo", "main", "()V", profile::kMethodStatic);
  const profile::MethodId leaf = made.AddMethod("Demo", "leaf", "()V", profile::kMethodStatic);
  const size_t thread = made.AddThread("main", 100);
  made.Enter(thread, main, FrameKind::kJitted, 0);
  for (int i = 0; i < 4000; ++i) {
    made.Enter(thread, leaf, FrameKind::kJitted, 5);
    made.Exit(thread, 10);
  }
  made.Exit(thread, 5);
  const std::string options = R"("options":{)";
  made.meta.replace(made.meta.find(options), options.size(), options + R"("time_every":16,)");
  made.header.timed_intervals = 150;
  return made;
}

// Returns the same, with intervals of this mean square that stand for all others.
profile::SyntheticProfile SparselyTimed(double square) {
  profile::SyntheticProfile made = SparselyTimed();
  made.header.sampled_intervals = (3983 + 3984) / 16 + 1;
  made.header.sampled_squares = static_cast<uint64_t>((3983 + 3984) / 16.0 * square);
  return made;
}

// Returns by how much intervals of this mean may be too long in all: 4 ns and a quarter of it.
double TooLong(double estimated, double mean) { return estimated * std::hypot(4, mean / 4); }

// Returns the error of `estimated` intervals of the mean square: the variance of one in 16 that is
// timed in windows of four, and by how much all may be too long.
double ErrorOf(double estimated, double square, double too_long) {
  return std::hypot(std::sqrt(estimated * 15 * 2 * square), too_long);
}

TEST(Quality, EstimatedTimesHaveAnErrorByTheMeanSquareOfTheirIntervals) {
  for (const double square : {25.0, 100.0, 10'000.0}) {
    const Quality quality = FactsOf(SparselyTimed(square));
    const Fact* fact = FactNamed(quality, "estimated");
    ASSERT_NE(fact, nullptr);
    const double error = ErrorOf(3983 + 3984, square, TooLong(3983, 10) + TooLong(3984, 5));
    EXPECT_NEAR(fact->value, model::kDeviations95 * error / (4000 * 15 + 5), 0.001 * fact->value);
    EXPECT_EQ(fact->severity, kMajor) << "the intervals are short";
    EXPECT_TRUE(fact->text.starts_with(
        "time is estimated from one interval in 16 of frequent contexts, +- "));
  }
  EXPECT_EQ(FactNamed(FactsOf(DemoProfile()), "estimated"), nullptr);
}

// Returns the errors of the rows of a profile without a table, in ticks, by their calls.
std::map<uint64_t, double> ErrorsByCalls(profile::SyntheticProfile made) {
  const fs::path directory = QualityDirectory();
  made.Write(directory);
  auto reader = profile::Reader::Open(directory);
  EXPECT_TRUE(reader);
  model::Source source{std::move(*reader), {}, "", "no table"};
  const auto forest = model::LoadForest(source, {});
  EXPECT_TRUE(forest);
  EXPECT_FALSE(forest->metrics[0].calibrated);
  std::map<uint64_t, double> by_calls;
  for (size_t i = 0; i < forest->rows.rows.size(); ++i)
    by_calls[forest->rows.rows[i].calls] += forest->rows.cell(i, 0).error;
  fs::remove_all(directory);
  return by_calls;
}

// The error of an estimate needs no calibration. In a part of a recording also the first intervals
// of a context may be estimated.
TEST(Quality, EstimatedTimesHaveTheirErrorWithoutATableToo) {
  profile::SyntheticProfile made = SparselyTimed();
  // The first call follows an entry, the others an exit: 3,983 of them are beyond the first 16.
  EXPECT_NEAR(ErrorsByCalls(made).at(4000), ErrorOf(3983, 10 * 10, TooLong(3983, 10)), 1);
  made.meta.insert(1, R"("piece":{"number":2},)");
  EXPECT_NEAR(ErrorsByCalls(made).at(4000), ErrorOf(4000, 10 * 10, TooLong(4000, 10)), 1);
}

TEST(Quality, TimesOfAllIntervalsHaveNoErrorOfAnEstimate) {
  profile::SyntheticProfile made = SparselyTimed();
  made.meta.replace(made.meta.find(R"("time_every":16)"), 15, R"("time_every":1)");
  made.header.timed_intervals = 0;
  const fs::path directory = QualityDirectory();
  made.Write(directory);
  auto reader = profile::Reader::Open(directory);
  ASSERT_TRUE(reader);
  const auto tree = reader->ReadTree();
  ASSERT_TRUE(tree);
  calibrate::Correction correction;
  EXPECT_EQ(model::AddEstimateError(model::SparseTimeOf(*reader), *tree, 0, correction), 0.0);
  EXPECT_EQ(correction.total_error, 0.0);
  for (const float error : correction.error) EXPECT_EQ(error, 0.0f);
  fs::remove_all(directory);
}

// The intervals of the leaf, 10 ns, and those of its caller, 5 ns, have the mean square 62.5 if all
// of a context are alike. Each row has its own part of the error.
TEST(Quality, ContextsThatDifferDoNotWidenEachOthersErrors) {
  for (const double times : {1.0, 4.0}) {
    const std::map<uint64_t, double> found = ErrorsByCalls(SparselyTimed(62.5 * times * times));
    EXPECT_NEAR(found.at(4000), ErrorOf(3983, 100 * times * times, TooLong(3983, 10)), 100);
    EXPECT_NEAR(found.at(1), ErrorOf(3984, 25 * times * times, TooLong(3984, 5)), 100);
  }
}

TEST(Quality, LongIntervalsThatWereNotTimedAreGradedByTheirShare) {
  const auto severity = [](uint64_t ticks) {
    profile::SyntheticProfile made = SparselyTimed();
    made.header.untimed_ticks = ticks;
    const Quality quality = FactsOf(made);
    const Fact* fact = FactNamed(quality, "not_timed");
    return fact == nullptr ? "none" : NameOf(fact->severity);
  };
  EXPECT_EQ(severity(0), "none");
  EXPECT_EQ(severity(100), "info");
  EXPECT_EQ(severity(1000), "minor");
  EXPECT_EQ(severity(10'000), "major");
}

// Shares of events: of 10 calls, one more that was dropped is a tenth, three more are a quarter.
TEST(Quality, LostEventsAreGradedByTheirShare) {
  const auto dropped = [](uint64_t count) {
    profile::SyntheticProfile made = DemoProfile();
    made.threads[0].dropped = count;
    const Quality quality = FactsOf(made);
    const Fact* fact = FactNamed(quality, "dropped");
    return fact == nullptr ? "none" : NameOf(fact->severity);
  };
  EXPECT_EQ(dropped(0), "none");
  EXPECT_EQ(dropped(1), "major");
  EXPECT_EQ(dropped(8), "severe");
  const auto of_many = [](uint64_t count) {
    profile::SyntheticProfile made = DemoProfile();
    made.Current(1).entries[0] += 1000;
    made.threads[0].dropped = count;
    return NameOf(FactNamed(FactsOf(made), "dropped")->severity);
  };
  EXPECT_EQ(of_many(1), "minor");
}

TEST(Quality, FactsAboutCalibration) {
  const Quality raw = FactsOf(DemoProfile());
  ASSERT_NE(FactNamed(raw, "uncalibrated"), nullptr);
  EXPECT_EQ(FactNamed(raw, "uncalibrated")->severity, kMajor);
  EXPECT_EQ(FactNamed(raw, "uncalibrated")->text,
            "UNCALIBRATED: the profiler's own cost is in time");
  EXPECT_TRUE(FactNamed(raw, "uncalibrated")->detail.contains("no table"));
  EXPECT_EQ(FactNamed(raw, "subtracted"), nullptr);

  const Quality fine = FactsOf(DemoProfile(), DemoTable());
  EXPECT_EQ(FactNamed(fine, "uncalibrated"), nullptr);
  EXPECT_EQ(FactNamed(fine, "forced_table"), nullptr);
  EXPECT_EQ(FactNamed(fine, "subtracted")->severity, kInfo);
  EXPECT_TRUE(FactNamed(fine, "subtracted")->detail.contains("calibrated with table (made 2026-"));
  EXPECT_EQ(FactNamed(fine, "similar_keys")->severity, kInfo);
  EXPECT_EQ(FactNamed(fine, "within_error")->text, "3 rows cost no more than their error");
  EXPECT_EQ(FactNamed(fine, "over_calibrated")->text, "1 row over-calibrated");

  const Quality forced = FactsOf(DemoProfile(), DemoTable(), "t BY FORCE (cpu: c, not d)");
  EXPECT_EQ(FactNamed(forced, "forced_table")->text, "calibrated BY FORCE (cpu: c, not d)");

  calibrate::Table without = DemoTable();
  without.metrics[0].name = "cycles";
  EXPECT_TRUE(FactNamed(FactsOf(DemoProfile(), without), "uncalibrated")
                  ->detail.contains("jprof calibrate --metrics time"));

  calibrate::Table few = DemoTable();  // no key of any transition
  few.metrics[0].keys.clear();
  const Quality unknown = FactsOf(DemoProfile(), few);
  ASSERT_NE(FactNamed(unknown, "similar_keys"), nullptr);
  EXPECT_EQ(FactNamed(unknown, "similar_keys")->severity, kMajor);
}

TEST(Quality, AValueMeasuredBelow0IsAFactAlsoWithoutATable) {
  const auto measured = [](int64_t first) {
    profile::SyntheticProfile made;
    const size_t thread = made.AddThread("main", 1);
    made.Enter(thread, made.AddMethod("A", "a", "()V"), FrameKind::kJitted, 100);
    made.Exit(thread, first);
    return FactsOf(made);
  };
  EXPECT_EQ(FactNamed(measured(1), "negative"), nullptr);
  const Quality below = measured(-2);
  ASSERT_NE(FactNamed(below, "negative"), nullptr);
  EXPECT_EQ(FactNamed(below, "negative")->severity, kMinor);
  EXPECT_EQ(FactNamed(below, "negative")->text, "1 row of time measured below 0");
  EXPECT_EQ(FactNamed(measured(-20), "negative")->severity, kMajor);
  EXPECT_EQ(FactNamed(below, "over_calibrated"), nullptr);
}

TEST(Quality, ALiveProfileHasNotEnded) {
  profile::SyntheticProfile live = DemoProfile();
  live.header.finished = 0;
  const Quality quality = FactsOf(live);
  ASSERT_NE(FactNamed(quality, "open_calls"), nullptr);
  EXPECT_FALSE(FactNamed(quality, "open_calls")->means.contains("ended"));
}

TEST(Quality, ASharedCounterIsGradedByItsTime) {
  const auto running = [](uint32_t permille) {
    profile::SyntheticProfile made = DemoProfile();
    made.header.least_running_permille[0] = permille;
    const Quality quality = FactsOf(made, DemoTable());
    const Fact* fact = FactNamed(quality, "shared_counter");
    return fact == nullptr ? "none" : NameOf(fact->severity);
  };
  EXPECT_EQ(running(1000), "none");
  EXPECT_EQ(running(999), "minor");
  EXPECT_EQ(running(500), "minor");
  EXPECT_EQ(running(499), "major");
}

// Every loss, with hostile names, and everything else that a profile may be about.
SampledProfile Everything() {
  SampledProfile all = Samples(50, 40, 5);
  profile::SyntheticProfile& made = all.made;
  profile::ControlHeader& header = made.header;
  header.finished = 0;
  header.lost_threads = header.lost_events = header.disk_full = header.tree_full = 3;
  header.name_failures = header.memory_failures = header.samples_in_heap = 3;
  header.lost_lock_edges = header.lost_durations = 3;
  header.slow_not_kept = header.slow_cut = header.slow_unended = 3;
  header.sampled_cpu_ns = 1'000'000'000;
  header.signalled_cpu_ns = 100'000'000;
  header.signal_taken = SIGSTKFLT;
  header.signal_taken_ticks = header.start_ticks + 1;
  header.folded_ticks = header.start_ticks + 1;
  std::strcpy(header.signal_taken_by, "/opt/\x1b[2Jlib\nother.so");
  for (profile::UncountedRecord* record : {&header.unwoven_methods, &header.unwoven_classes,
                                           &header.unprobed_methods, &header.unpatched_modules}) {
    record->count = 3;
    std::memset(record->names, 'x', sizeof(record->names));
    std::memcpy(record->names, "\x1b[2Ja\n", 6);
  }
  profile::ThreadRecord& thread = made.threads[0];
  thread.flags = profile::kThreadDisarmed | profile::kThreadNoClock | profile::kThreadNoCounters |
                 profile::kThreadNotSampled | profile::kThreadBlocksSignal |
                 profile::kThreadOtherTimer | profile::FlagsOfError(EMFILE);
  for (auto member :
       {&profile::ThreadRecord::healed, &profile::ThreadRecord::unmatched,
        &profile::ThreadRecord::overflow, &profile::ThreadRecord::dropped,
        &profile::ThreadRecord::trace_dropped, &profile::ThreadRecord::trace_overwritten,
        &profile::ThreadRecord::samples_lost, &profile::ThreadRecord::samples_unknown,
        &profile::ThreadRecord::samples_truncated, &profile::ThreadRecord::samples_own})
    thread.*member = 3;
  return all;
}

// A new loss needs a row in reports/quality/loss_facts.cc, and its cause above.
TEST(Quality, EachLossHasATextOfItsOwn) {
  const fs::path directory = QualityDirectory();
  Everything().Write(directory);
  const auto reader = profile::Reader::Open(directory);
  ASSERT_TRUE(reader);
  const Quality quality = FactsOf(Everything());
  for (const profile::Loss& loss : profile::Losses(*reader)) {
    EXPECT_GT(loss.count, 0u) << loss.name;
    if (loss.name == "uncovered_cpu_ms") continue;  // the fact "covered"
    const Fact* fact = FactNamed(quality, loss.name);
    ASSERT_NE(fact, nullptr) << loss.name;
    const std::string description = profile::CleanText(loss.description);
    EXPECT_TRUE(fact->detail == description || fact->detail.empty()) << fact->text;
    EXPECT_GT(fact->means.size(), 10u) << loss.name;
  }
  EXPECT_EQ(quality.worst(), kSevere);
}

std::string HeadOf(const std::string& text) { return text.substr(0, text.find("\n hottest")); }

TEST(Quality, AHeadWithEverythingHasEightPrintableLines) {
  const fs::path directory = fs::path(testing::TempDir()) /
                             ("quality \x1b[2J" + std::to_string(getpid()) + std::string(99, 'x'));
  Everything().Write(directory);
  for (const char* report : {"scs", "log-rt"}) {
    const Printed printed = Print(report, directory, {});
    ASSERT_TRUE(printed.result);
    const std::string head = HeadOf(printed.text);
    EXPECT_LE(std::ranges::count(head, '\n') + 1, 8) << head;
    EXPECT_FALSE(head.contains('\x1b')) << head;
    EXPECT_TRUE(head.contains("\n quality   poor: ")) << head;
    EXPECT_TRUE(head.contains(" more (jprof info") || head.contains("; and ")) << head;
  }
  const auto json = nlohmann::json::parse(Print("scs", directory, {.format = Format::kJson}).text);
  EXPECT_GT(json["quality"].size(), 20u);
  EXPECT_EQ(json["quality"][0]["severity"], "severe");
  EXPECT_TRUE(json["quality"][0]["value"].is_number());
  fs::remove_all(directory);
}

TEST(Quality, EveryReportOfAProfileHasIt) {
  const fs::path directory = QualityDirectory();
  DemoProfile(/*with_trace=*/true).Write(directory);
  for (const char* report : {"log-rt", "methods", "log-gen"}) {
    const Printed text = Print(report, directory, {});
    EXPECT_TRUE(text.text.contains("\n quality   fair: UNCALIBRATED")) << text.text;
    const auto json =
        nlohmann::json::parse(Print(report, directory, {.format = Format::kJson}).text);
    EXPECT_EQ(json["quality"][0]["name"], "uncalibrated") << report;
  }
  fs::remove_all(directory);
}

TEST(Quality, IsExplainedAsTextAndAsJson) {
  const Quality quality = Made({{"healed", 3, kMinor, "3 frames were found gone", "more of it",
                                 "Counts are right.", "wait"}});
  const auto text = PrintedText([&](Output& out) -> Result<void> {
    ExplainText("demo.jprof", quality, 0, out);
    return {};
  });
  EXPECT_EQ(*text, R"(quality of demo.jprof: good

 minor   3 frames were found gone
         details   more of it
         means     Counts are right.
         to do     wait
)");
  const auto json = PrintedText([&](Output& out) -> Result<void> {
    ExplainJson("demo.jprof", quality, out);
    return {};
  });
  const auto parsed = nlohmann::json::parse(*json);
  EXPECT_EQ(parsed["grade"], "good");
  EXPECT_EQ(parsed["quality"][0]["value"], 3);
  EXPECT_EQ(parsed["quality"][0]["advice"], "wait");
}

// Two runs of `samples` samples each, and a counted run of the same contexts.
MadeCombined TwoRuns(int samples, int uncounted = 0) {
  StackProfile counted = CountedStacks();
  counted.Call("C.main", 1);
  counted.Call("C.main C.work", 10);
  StackProfile sampled = SampledStacks();
  sampled.Add("C.main C.work", samples - uncounted);
  if (uncounted > 0) sampled.Add("C.main C.other", uncounted);
  return MadeCombined(counted, {sampled, sampled});
}

Quality FactsOfCombined(const MadeCombined& made) {
  model::Combined combined = made.Open();
  auto view = model::LoadCombined(combined);
  EXPECT_TRUE(view);
  return QualityOf(combined, *view);
}

TEST(CombinedQuality, RunsThatDifferAreGraded) {
  MadeCombined made = TwoRuns(1000);
  EXPECT_EQ(FactNamed(FactsOfCombined(made), "runs_differ"), nullptr);
  EXPECT_EQ(FactNamed(FactsOfCombined(made), "note"), nullptr);
  made.meta().runs[2].output = profile::Run::Output::kDiffers;
  made.meta().notes = {"sampled-1 was made on another machine"};
  const Quality other = FactsOfCombined(made);
  EXPECT_EQ(FactNamed(other, "runs_differ")->severity, kMajor);
  EXPECT_EQ(FactNamed(other, "note")->severity, kMinor);
  made.meta().runs[1].exit_status = 0;
  made.meta().runs[2].exit_status = 137;
  EXPECT_EQ(FactNamed(FactsOfCombined(made), "runs_differ")->severity, kSevere);
}

TEST(CombinedQuality, SamplesThatTheCountedRunDidNotSeeAtTheLimits) {
  const auto uncounted = [](int samples) {
    return NameOf(FactNamed(FactsOfCombined(TwoRuns(1000, samples)), "uncounted")->severity);
  };
  EXPECT_EQ(uncounted(0), "info");
  EXPECT_EQ(uncounted(9), "info");
  EXPECT_EQ(uncounted(10), "minor");
  EXPECT_EQ(uncounted(100), "major");
  EXPECT_EQ(uncounted(500), "severe");
}

TEST(CombinedQuality, FewSamplesAndOneRun) {
  EXPECT_EQ(FactNamed(FactsOfCombined(TwoRuns(50)), "samples")->severity, kInfo);
  EXPECT_EQ(FactNamed(FactsOfCombined(TwoRuns(49)), "samples")->severity, kMajor);
  EXPECT_EQ(FactNamed(FactsOfCombined(TwoRuns(4)), "samples")->severity, kSevere);
  EXPECT_LT(FactNamed(FactsOfCombined(TwoRuns(1000)), "one_run")->severity, kMajor);
  StackProfile counted = CountedStacks(), sampled = SampledStacks();
  counted.Call("C.main", 1);
  sampled.Add("C.main", 1000);
  EXPECT_EQ(FactNamed(FactsOfCombined(MadeCombined(counted, {sampled})), "one_run")->severity,
            kMajor);
}

TEST(CombinedQuality, TheFactsOfARunNameIt) {
  StackProfile counted = CountedStacks(), sampled = SampledStacks();
  counted.Call("C.main", 1);
  sampled.Add("C.main", 1000);
  sampled.made.header.finished = 0;
  const Quality quality = FactsOfCombined(MadeCombined(counted, {sampled, sampled}));
  ASSERT_NE(FactNamed(quality, "unfinished"), nullptr);
  EXPECT_EQ(FactNamed(quality, "unfinished")->text,
            "sampled-1: not finished: still running, or killed");
}

}  // namespace
}  // namespace jprof::reports
