// Sampled profiles as reports: pages against tests/golden/, sums, names of native frames.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/oracle/slow_sums.h"
#include "tests/unit/reports/sampled_profile.h"

// Found by its address in this program's own file.
extern "C" __attribute__((visibility("default"), noinline, used)) int jprof_test_landmark(int x) {
  volatile int y = x;
  return y + 1;
}

namespace jprof::reports {
namespace {

namespace fs = std::filesystem;

fs::path TestDirectory(const std::string& name) {
  return fs::path(testing::TempDir()) / (name + "-" + std::to_string(getpid()) + ".jprof");
}

std::string PrintSampled(SampledProfile profile, const std::string& report,
                         const Options& options) {
  const fs::path directory = TestDirectory("scs");
  profile.Write(directory);
  Printed printed = Print(report, directory, options);
  fs::remove_all(directory);
  EXPECT_TRUE(printed.result) << printed.result.error().message;
  return Replaced(printed.text, directory.string(), "demo.jprof");
}

struct ScsCase {
  const char* golden;
  const char* report;
  Options options;
};

void PrintTo(const ScsCase& one, std::ostream* out) { *out << one.golden; }

const ScsCase kScsCases[] = {
    {"scs.txt", "scs", {}},
    {"scs_one.txt", "scs", {.merged = true, .cumulative = true, .metric = "samples"}},
    {"scs.json", "scs", {.format = Format::kJson}},
    {"scs.csv", "scs", {.format = Format::kCsv, .cumulative = true}},
    {"scs.collapsed", "scs", {.format = Format::kCollapsed}},
    {"scs_methods.txt", "methods", {}},
    {"scs_log_rt.txt", "log-rt", {.metric = "ALLOCATED_BYTES"}},
};

class ScsGolden : public testing::TestWithParam<ScsCase> {};

TEST_P(ScsGolden, IsAsWritten) {
  const std::string text = PrintSampled(DemoSamples(), GetParam().report, GetParam().options);
  const fs::path golden = fs::path(__FILE__).parent_path() / "../../golden" / GetParam().golden;
  if (std::getenv("JPROF_UPDATE_GOLDEN") != nullptr) std::ofstream(golden) << text;
  std::ostringstream expected;
  expected << std::ifstream(golden).rdbuf();
  EXPECT_EQ(text, expected.str());
}

bool Contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// Of 104 ms: one period more or less is chance, and 34 ms are not.
TEST(ScsReport, CpuTimeWithoutSamplesIsALoss) {
  SampledProfile demo = DemoSamples();
  const std::string fine = PrintSampled(demo, "scs", {.format = Format::kJson});
  EXPECT_TRUE(Contains(fine, "\"uncovered_cpu_ms\":0,")) << fine;
  demo.made.header.signalled_cpu_ns = 70'000'000;
  const std::string text = PrintSampled(demo, "scs", {});
  EXPECT_TRUE(Contains(text, "67.3 % of the CPU time has samples")) << text;
}

TEST(ScsReport, NamesWhatTookTheSignal) {
  SampledProfile demo = DemoSamples();
  profile::ControlHeader& header = demo.made.header;
  header.signal_taken = SIGSTKFLT;
  header.signal_taken_ticks = header.start_ticks + header.ticks_per_second / 2;
  std::strcpy(header.signal_taken_by, "/opt/libother.so");
  demo.made.threads[1].flags |= profile::kThreadBlocksSignal;
  const std::string text = PrintSampled(demo, "scs", {});
  EXPECT_TRUE(Contains(text, "1 signal of sampling was taken over by the program")) << text;
  const std::string json = PrintSampled(demo, "scs", {.format = Format::kJson});
  EXPECT_TRUE(Contains(json, "1 thread blocked the signal of sampling")) << json;
}

INSTANTIATE_TEST_SUITE_P(Reports, ScsGolden, testing::ValuesIn(kScsCases), [](const auto& tested) {
  std::string name = tested.param.golden;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
});

// A random tree of stacks on two threads.
SampledProfile RandomSamples(unsigned seed) {
  std::mt19937 random(seed);
  SampledProfile profile(kTimeMetrics, 1);
  std::vector<profile::MethodId> methods;
  for (int i = 0; i < 8; ++i)
    methods.push_back(profile.made.AddMethod("C", "m" + std::to_string(i), "(L;)V"));
  for (uint32_t thread : {0u, 1u})
    profile.made.AddThread("t" + std::to_string(thread), 100 + thread);
  for (int i = 0; i < 2000; ++i) {
    std::vector<Frame> stack;
    for (auto depth = random() % 12; depth > 0; --depth) stack.push_back({methods[random() % 8]});
    profile.Sample(random() % 2, stack, {1});
  }
  return profile;
}

double CollapsedSum(const std::string& text) {
  double sum = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) sum += std::stod(line.substr(line.rfind(' ')));
  return sum;
}

TEST(Scs, EveryFormatAddsUpToTheSamplesTaken) {
  for (const unsigned seed : {1u, 2u, 3u}) {
    const SampledProfile profile = RandomSamples(seed);
    for (const Options& shown :
         {Options{}, Options{.merged = true}, Options{.min_percent = 3},
          Options{.sort = model::Sort::kBase, .depth = 3}, Options{.merged = true, .depth = 2}}) {
      Options options = shown;
      options.format = Format::kCsv;
      const auto rows = oracle::ParseCsv(PrintSampled(profile, "scs", options));
      EXPECT_EQ(oracle::Total(rows, "samples:samples"), 2000);
      options.format = Format::kCollapsed;
      EXPECT_EQ(CollapsedSum(PrintSampled(profile, "scs", options)), 2000);
    }
    const auto methods =
        oracle::ParseCsv(PrintSampled(profile, "methods", {.format = Format::kCsv}));
    EXPECT_EQ(oracle::Total(methods, "base:samples"), 2000);
    EXPECT_FALSE(methods[0].fields.contains("calls"));
    const auto json =
        nlohmann::json::parse(PrintSampled(profile, "scs", {.format = Format::kJson}));
    for (size_t thread = 0; thread < 2; ++thread) {
      double sum = 0;
      for (const auto& node : json["threads"][thread]["nodes"])
        sum += node["samples"][0].get<double>();
      EXPECT_EQ(
          sum,
          static_cast<double>(
              profile.made.threads[json["threads"][thread]["tid"].get<size_t>() - 100].samples));
    }
  }
}

TEST(Scs, CumulativeIsWhatTheSlowWaySays) {
  const auto rows = oracle::ParseCsv(
      PrintSampled(RandomSamples(4), "scs", {.format = Format::kCsv, .cumulative = true}));
  const auto sums = oracle::Cumulative(rows, "samples:samples");
  for (const auto& row : rows)
    EXPECT_EQ(row.number("cumulative:samples"), sums.at(row.fields.at("id")));
}

// Two addresses of one function are one row with its name; what no symbol covers keeps its address.
TEST(Scs, NativeFramesHaveTheirSymbols) {
  Dl_info info = {};
  ASSERT_NE(dladdr(reinterpret_cast<void*>(&jprof_test_landmark), &info), 0);
  const uint64_t base = reinterpret_cast<uint64_t>(info.dli_fbase);
  const uint64_t address = reinterpret_cast<uint64_t>(&jprof_test_landmark) - base;
  const std::string self = fs::read_symlink("/proc/self/exe").string();
  SampledProfile profile(kTimeMetrics, 1);
  const auto code = [&](uint64_t at) {
    return profile.made.AddMethod(self, fmt::format("0x{:x}", at), "", profile::kMethodCode);
  };
  const profile::MethodId first = code(address), second = code(address + 1), nowhere = code(1);
  const size_t thread = profile.made.AddThread("main", 100);
  for (const profile::MethodId method : {first, second, second, nowhere}) {
    profile.Sample(thread, {{method, FrameKind::kFunction}}, {1});
  }
  const std::string module = fs::path(self).filename().string();
  const std::string text = PrintSampled(profile, "scs", {.format = Format::kCollapsed});
  EXPECT_EQ(text, "main;" + module + ".jprof_test_landmark 3\nmain;" + module + "+0x1 1\n");
}

TEST(Scs, CalltreeWithSamplesHasBoth) {
  profile::SyntheticProfile made;
  made.meta = SampledMeta(kTimeMetrics, "calltree");
  const profile::MethodId method = made.AddMethod("C", "m", "()V");
  const size_t thread = made.AddThread("main", 100);
  made.Enter(thread, method, FrameKind::kJitted, 0);
  made.Exit(thread, 7);
  const fs::path directory = TestDirectory("both");
  made.Write(directory);
  const std::string scs = Print("scs", directory, {}, DemoTable()).text;
  const std::string log_rt = Print("log-rt", directory, {}, DemoTable()).text;
  fs::remove_all(directory);
  EXPECT_NE(scs.find("      CALLS NAME\n"), std::string::npos) << scs;
  EXPECT_NE(scs.find("          1  J:C.m()\n"), std::string::npos) << scs;
  EXPECT_NE(log_rt.find(" SAMPLES      CUM     % CUM/CALL NAME\n"), std::string::npos) << log_rt;
  EXPECT_EQ(log_rt.find("UNCALIBRATED"), std::string::npos);
}

TEST(Scs, SaysWhatIsMissing) {
  const fs::path directory = TestDirectory("missing");
  DemoProfile().Write(directory);
  const Printed unsampled = Print("scs", directory, {});
  ASSERT_FALSE(unsampled.result);
  EXPECT_EQ(unsampled.result.error().kind, Error::Kind::kWrongUse);
  EXPECT_NE(unsampled.result.error().message.find("has no samples"), std::string::npos);
  const Printed wrong = Print("log-rt", directory, {.metric = "tine"});
  ASSERT_FALSE(wrong.result);
  EXPECT_NE(wrong.result.error().message.find("did you mean 'time'?"), std::string::npos);
  EXPECT_FALSE(Print("methods", directory, {.format = Format::kCollapsed}).result);
  fs::remove_all(directory);
  SampledProfile(kTimeMetrics, 1).Write(directory);  // no thread at all
  for (const Format format : {Format::kText, Format::kJson, Format::kCsv, Format::kCollapsed}) {
    EXPECT_TRUE(Print("scs", directory, {.format = format}).result);
  }
  fs::remove_all(directory);
}

TEST(ScsReport, ThreadsThatCouldNotBeSampledAreNamedWithTheReason) {
  SampledProfile profile = DemoSamples();
  for (profile::ThreadRecord& thread : profile.made.threads)
    thread.flags |= profile::kThreadNotSampled | profile::FlagsOfError(EMFILE);
  const std::string count = std::to_string(profile.made.threads.size());
  EXPECT_NE(PrintSampled(profile, "scs", {}).find(count + " threads could not be sampled"),
            std::string::npos);
  EXPECT_NE(PrintSampled(std::move(profile), "scs", {.format = Format::kJson})
                .find("\"threads_not_sampled\":" + count + ","),
            std::string::npos);
}

}  // namespace
}  // namespace jprof::reports
