#include <gtest/gtest.h>
#include <sqlite3.h>

#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <protozero/pbf_reader.hpp>
#include <sstream>

#include "model/sums/flat.h"
#include "model/tree/readable_name.h"
#include "model/values/whole_units.h"
#include "reports/export/stacks.h"
#include "tests/unit/reports/export/exported.h"
#include "tests/unit/reports/sampled_profile.h"

namespace jprof::reports {
namespace {

using protozero::pbf_reader;

model::ContextTree Contexts(model::Source& source, const Options& options = {}) {
  return *model::LoadContexts(source, options);
}

size_t MeasureNamed(const model::ContextTree& tree, std::string_view name) {
  for (size_t m = 0; m < tree.measures.size(); ++m) {
    if (tree.measures[m].name == name) return m;
  }
  ADD_FAILURE() << name;
  return 0;
}

int64_t Total(const model::ContextTree& tree, std::string_view name) {
  const size_t measure = MeasureNamed(tree, name);
  int64_t sum = 0;
  for (size_t i = 0; i < tree.nodes.size(); ++i)
    sum = model::AddSaturating(sum, tree.Value(i, measure));
  return sum;
}

// name of a sample type -> the sum of its values.
std::map<std::string, int64_t> PprofTotals(const std::string& compressed) {
  const std::string bytes = Unzipped(compressed);
  std::vector<std::string> texts;
  std::vector<std::vector<int64_t>> samples;
  std::vector<int64_t> types;
  for (pbf_reader profile(bytes); profile.next();) {
    if (profile.tag() == 1) {
      pbf_reader type = profile.get_message();
      type.next(1);
      types.push_back(type.get_int64());
    } else if (profile.tag() == 2) {
      pbf_reader sample = profile.get_message();
      sample.next(2);
      const auto values = sample.get_packed_int64();
      samples.emplace_back(values.begin(), values.end());
    } else if (profile.tag() == 6) {
      texts.push_back(profile.get_string());
    } else {
      profile.skip();
    }
  }
  std::map<std::string, int64_t> totals;
  for (size_t i = 0; i < types.size(); ++i) {
    int64_t& total = totals[texts[static_cast<size_t>(types[i])]];
    for (const auto& values : samples) total = model::AddSaturating(total, values[i]);
  }
  return totals;
}

// What callgrind_annotate --inclusive=yes prints: name -> inclusive values.
std::map<std::string, std::vector<int64_t>> CallgrindInclusive(const std::string& text) {
  std::map<std::string, std::string> names;
  std::map<std::string, std::vector<int64_t>> own, called;
  std::string function, callee, line;
  const auto name_of = [&](const std::string& spec) {
    const size_t close = spec.find(')');
    std::string& name = names[spec.substr(0, close)];
    if (close + 2 < spec.size()) name = spec.substr(close + 2);
    return name;
  };
  for (std::istringstream lines(text); std::getline(lines, line);) {
    if (line.starts_with("fn=")) {
      function = name_of(line.substr(3));
      callee.clear();
    } else if (line.starts_with("cfn=")) {
      callee = name_of(line.substr(4));
    } else if (line.starts_with("0 ")) {
      std::vector<int64_t>& sums = callee.empty() ? own[function] : called[callee];
      std::istringstream costs(line.substr(2));
      int64_t cost = 0;
      for (size_t i = 0; costs >> cost; ++i) {
        if (i == sums.size()) sums.push_back(0);
        sums[i] = model::AddSaturating(sums[i], cost);
      }
    }
  }
  for (const auto& [name, sums] : called) own[name] = sums;
  return own;
}

TEST(ReadableName, IsInTheNotationOfJava) {
  const std::pair<const char*, const char*> cases[] = {
      {"java/lang/String.substring(II)Ljava/lang/String;", "java.lang.String.substring(int, int)"},
      {"A.m()V", "A.m()"},
      {"p/A$B.<init>([[JLjava/util/List;Z)V", "p.A$B.<init>(long[][], java.util.List, boolean)"},
      {"p/A.odd(name(I)V", "p.A.odd(name(int)"},
      {"A.m(BCDFIJSZ)V", "A.m(byte, char, double, float, int, long, short, boolean)"},
      // Not a method, or damaged: unchanged.
      {"(overflow)", "(overflow)"},
      {"(unknown method 7)", "(unknown method 7)"},
      {"libc.so.6.malloc", "libc.so.6.malloc"},
      {"A.m(Q)V", "A.m(Q)V"},
      {"A.m(Ljava/lang)V", "A.m(Ljava/lang)V"},
      {"A.m([)V", "A.m([)V"},
      {"A.m(", "A.m("},
      {"", ""},
  };
  for (const auto& [full, readable] : cases) EXPECT_EQ(model::ReadableMethod(full), readable);
  EXPECT_EQ(model::WithoutSignature("p/A.m(I)V"), "p/A.m");
  EXPECT_EQ(model::WithoutSignature("vmlinux.x"), "vmlinux.x");
}

TEST(WholeUnits, KeepTheSumAndTheLimits) {
  model::WholeUnits units;
  int64_t sum = 0;
  for (int i = 0; i < 1000; ++i) sum += units.Of(i % 2 == 0 ? 0.3 : -0.1);
  EXPECT_EQ(sum, 100);
  EXPECT_EQ(units.Of(NAN), 0);
  EXPECT_EQ(units.Of(1e30), INT64_MAX);
  EXPECT_EQ(units.Of(-1e30), INT64_MIN);
  EXPECT_EQ(model::AddSaturating(INT64_MAX, 1), INT64_MAX);
  EXPECT_EQ(model::AddSaturating(INT64_MIN, -1), INT64_MIN);
  EXPECT_EQ(model::AddSaturating(INT64_MAX, INT64_MIN), -1);
}

TEST(Export, TotalsAreThoseOfTheForest) {
  const ExportFolder folder;
  for (unsigned seed = 1; seed <= 8; ++seed) {
    model::Source source = Opened(folder.Write(RandomProfile(seed, 3, 4000)), DemoTable(seed));
    const model::Forest forest = *model::LoadForest(source, {});
    const model::MetricTotals& time = forest.metrics[0];
    auto totals = PprofTotals(ExportAs("pprof", source));
    EXPECT_EQ(totals["calls"], static_cast<int64_t>(forest.calls));
    EXPECT_EQ(totals["time_raw"], static_cast<int64_t>(time.raw));
    EXPECT_NEAR(static_cast<double>(totals["time"]), time.raw - time.adjust, 1);
    EXPECT_EQ(totals.size(), 3u);
  }
}

TEST(Export, CallgrindsInclusiveValuesAreThoseOfTheReportAlsoWithRecursion) {
  const ExportFolder folder;
  for (unsigned seed = 1; seed <= 8; ++seed) {
    model::Source source = Opened(folder.Write(RandomProfile(seed, 3, 4000)));
    const auto inclusive = CallgrindInclusive(ExportAs("callgrind", source));
    model::Forest forest = *model::LoadForest(source, {});
    for (const model::MethodSum& sum : model::SumByMethod(forest, /*with_cumulative=*/true)) {
      if (sum.method == profile::kRootMethod) continue;
      const auto found = inclusive.find(std::string(forest.names.Of(sum.method)));
      ASSERT_NE(found, inclusive.end());
      EXPECT_EQ(found->second[0], static_cast<int64_t>(sum.cumulative[0]));
    }
  }
}

TEST(Export, ValuesBelow0StayWhereTheFormatHasThem) {
  const ExportFolder folder;
  calibrate::Table table = DemoTable();
  for (auto& [key, overhead] : table.metrics[0].keys) overhead.overhead = 400;
  model::Source source = Opened(folder.Write(DemoProfile()), table);
  model::ContextTree tree = Contexts(source);
  const size_t time = MeasureNamed(tree, "time");
  int64_t least = 0, positive = 0;
  for (size_t i = 0; i < tree.nodes.size(); ++i) {
    least = std::min(least, tree.Value(i, time));
    positive += model::AtLeast0(tree.Value(i, time));
  }
  EXPECT_LT(least, 0);
  EXPECT_EQ(PprofTotals(ExportAs("pprof", source))["time"], Total(tree, "time"));
  const auto speedscope = nlohmann::json::parse(ExportAs("speedscope", source));
  int64_t shown = 0;
  for (const auto& profile : speedscope["profiles"]) {
    if (std::string(profile["name"]).ends_with(": time"))
      shown += profile["endValue"].get<int64_t>();
  }
  EXPECT_EQ(shown, positive);
  EXPECT_NE(fmt::format("{}", fmt::join(tree.run.notes, "\n")).find("below 0"), std::string::npos);
}

TEST(Export, HugeValuesAreExactOrAtTheLimit) {
  const ExportFolder folder;
  profile::SyntheticProfile made;
  const profile::MethodId method = made.AddMethod("A", "m", "()V");
  const size_t thread = made.AddThread("main", 1);
  for (int i = 0; i < 3; ++i) made.Enter(thread, method, FrameKind::kRejitted, 0);
  made.nodes[made.threads[thread].root].self = (int64_t{1} << 60) + 1;
  for (size_t i = 2; i < made.nodes.size(); ++i) made.nodes[i].self = INT64_MAX / 2;
  made.Current(thread).entries[0] = UINT32_MAX;
  model::Source source = Opened(folder.Write(made));
  model::ContextTree tree = Contexts(source);
  EXPECT_EQ(tree.Value(0, MeasureNamed(tree, "time_raw")), (int64_t{1} << 60) + 1);
  EXPECT_EQ(model::InclusiveAtLeast0(tree, MeasureNamed(tree, "time_raw"))[0], INT64_MAX);
  EXPECT_EQ(Total(tree, "calls"), int64_t{UINT32_MAX} + 2);
  EXPECT_EQ(CallgrindInclusive(ExportAs("callgrind", source)).at("A.m()V")[0], INT64_MAX);
  const auto parsed = nlohmann::json::parse(ExportAs("speedscope", source));
  EXPECT_EQ(parsed["profiles"][0]["endValue"].get<int64_t>(), INT64_MAX);
}

TEST(Export, OddNamesDoNotBreakAnyFormat) {
  const ExportFolder folder;
  profile::SyntheticProfile made;
  const std::string odd = "we\"ird;na\nme\\ \xff\xc3(1) x";
  const profile::MethodId method = made.AddMethod(odd, odd, "(I)V");
  const size_t thread = made.AddThread(odd, 1);
  made.Enter(thread, method, FrameKind::kRejitted, 10);
  made.Exit(thread, 2000);
  model::Source source = Opened(folder.Write(made));
  for (const char* format : {"speedscope", "otlp"})
    EXPECT_TRUE(nlohmann::json::accept(ExportAs(format, source))) << format;
  EXPECT_EQ(PprofTotals(ExportAs("pprof", source))["time_raw"], 2010);
  const std::string callgrind = ExportAs("callgrind", source);
  EXPECT_EQ(CallgrindInclusive(callgrind).size(), 2u) << callgrind;
  const std::string collapsed = ExportAs("collapsed", source);
  EXPECT_EQ(std::ranges::count(collapsed, '\n'), 1) << collapsed;
  EXPECT_EQ(std::ranges::count(collapsed, ';'), 1) << collapsed;
}

TEST(Export, AnEmptyProfileIsAFile) {
  const ExportFolder folder;
  model::Source source = Opened(folder.Write({}));
  EXPECT_EQ(PprofTotals(ExportAs("pprof", source))["time_raw"], 0);
  EXPECT_TRUE(nlohmann::json::parse(ExportAs("speedscope", source))["profiles"].size() == 1);
  EXPECT_TRUE(nlohmann::json::accept(ExportAs("otlp", source)));
  EXPECT_NE(ExportAs("callgrind", source).find("\nsummary:"), std::string::npos);
  EXPECT_TRUE(WriteSqlite(Contexts(source), folder.path() / "x.sqlite"));
}

TEST(Export, ADamagedProfileHasANote) {
  const ExportFolder folder;
  const auto directory = folder.Write(RandomProfile(3, 2, 500));
  std::filesystem::resize_file(directory / profile::kNodesFile, 64 * 9 + 30);
  model::Source source = Opened(directory);
  const model::ContextTree tree = Contexts(source);
  EXPECT_NE(fmt::format("{}", fmt::join(tree.run.notes, "\n")).find("damaged: "),
            std::string::npos);
  for (const ExportFormat& format : ExportFormats()) {
    if (format.of_timeline || format.write == nullptr) continue;
    EXPECT_NE(ExportAs(format.name, source), "") << format.name;
  }
}

TEST(Export, SampledFramesHaveModulesAndTimes) {
  const ExportFolder folder;
  SampledProfile demo = DemoSamples();
  demo.Write(folder.path() / "s.jprof");
  model::Source source = Opened(folder.path() / "s.jprof");
  const model::ContextTree tree = Contexts(source);
  EXPECT_EQ(tree.measures[tree.preferred].name, "cpu");
  EXPECT_EQ(Total(tree, "samples"), 100);
  EXPECT_EQ(Total(tree, "cpu"), 100'000'000);
  EXPECT_EQ(Total(tree, "ALLOCATED_BYTES"), 3 * 524288);
  std::map<std::string, std::string> modules;
  for (const model::ExportFrame& frame : tree.frames)
    modules[frame.readable] = tree.modules[frame.module].path;
  EXPECT_EQ(modules["Demo.work(int)"], "[java]");
  EXPECT_EQ(modules["ksys_read"], "vmlinux");
  EXPECT_EQ(modules["libdemo.so+0x1f40"], "/nowhere/libdemo.so");
  EXPECT_EQ(modules["--java/lang/String"], "[java]");
}

// The one number that a query returns.
int64_t Query(const std::filesystem::path& path, const std::string& sql) {
  sqlite3* database = nullptr;
  sqlite3_stmt* statement = nullptr;
  sqlite3_open(path.c_str(), &database);
  EXPECT_EQ(sqlite3_prepare_v2(database, sql.c_str(), -1, &statement, nullptr), SQLITE_OK)
      << sqlite3_errmsg(database);
  EXPECT_EQ(sqlite3_step(statement), SQLITE_ROW) << sql;
  const int64_t value = sqlite3_column_int64(statement, 0);
  sqlite3_finalize(statement);
  sqlite3_close(database);
  return value;
}

TEST(Export, SqlitesViewsAreTheReport) {
  const ExportFolder folder;
  model::Source source = Opened(folder.Write(RandomProfile(5, 3, 3000)), DemoTable(5));
  const model::ContextTree tree = Contexts(source);
  const auto path = folder.path() / "x.sqlite";
  ASSERT_TRUE(WriteSqlite(tree, path));
  EXPECT_EQ(Query(path, "SELECT count(*) FROM context"), tree.nodes.size());
  EXPECT_EQ(Query(path, "SELECT sum(time) FROM context"), Total(tree, "time"));
  int64_t errors = 0;
  for (size_t i = 0; i < tree.nodes.size(); ++i)
    errors += tree.Value(i, MeasureNamed(tree, "time_error"));
  EXPECT_EQ(Query(path, "SELECT sum(time_error) FROM context"), errors);
  EXPECT_GT(errors, 0);
  model::Forest forest = *model::LoadForest(source, {});
  for (const model::MethodSum& sum : model::SumByMethod(forest, true)) {
    if (sum.method == profile::kRootMethod) continue;
    const std::string name(forest.names.Of(sum.method));
    EXPECT_NEAR(static_cast<double>(
                    Query(path, "SELECT time FROM method_inclusive WHERE name = '" + name + "'")),
                sum.cumulative[0], static_cast<double>(tree.nodes.size()));
    EXPECT_EQ(Query(path, "SELECT calls FROM method_self WHERE name = '" + name + "'"), sum.calls);
  }
  EXPECT_FALSE(WriteSqlite(tree, folder.path() / "none" / "x.sqlite"));
}

// Names of columns are the same in upper and lower case, and each is there once.
TEST(Export, SqlitesColumnsHaveNamesOfTheirOwn) {
  const ExportFolder folder;
  model::Source source = Opened(folder.Write(RandomProfile(5, 2, 300)), DemoTable(5));
  model::ContextTree tree = Contexts(source);
  ASSERT_EQ(tree.measures.size(), 4u);
  const char* const names[] = {"ID", "calls", "Calls"};
  for (size_t m = 0; m < 3; ++m) tree.measures[m].name = names[m];
  const auto path = folder.path() / "x.sqlite";
  ASSERT_TRUE(WriteSqlite(tree, path));
  EXPECT_EQ(Query(path, "SELECT sum(ID_2) FROM context"), Total(tree, "ID"));
  EXPECT_EQ(Query(path, "SELECT sum(Calls_2) FROM method_self") +
                Query(path, "SELECT sum(Calls_2) FROM context WHERE method IS NULL"),
            Total(tree, "Calls"));
}

Result<void> WholeStacks(const model::ContextTree& tree, std::string_view format) {
  Result<void> result;
  const auto keep = [](const model::ContextTree&) -> Result<void> { return {}; };
  Written([&](Output& out) { return result = WriteStacks(tree, format, out, keep); });
  return result;
}

model::ContextNode NodeOf(model::NodeIndex parent, uint32_t frame) {
  model::ContextNode node;
  node.parent = parent;
  node.frame = model::FrameIndex{frame};
  return node;
}

// One thread with a stack of `depth` frames, each of which has the value 1; frame i is of method
// i % methods.
model::ContextTree OneDeepStack(uint32_t depth, uint32_t methods) {
  model::ContextTree tree;
  tree.measures = {{"calls", "count", model::Measure::Kind::kCalls, 0, ""}};
  tree.frames = {{"t", "t", 0, model::ExportFrame::Kind::kThread}};
  for (uint32_t i = 0; i < methods; ++i) {
    const std::string name = fmt::format("A.m{}", i);
    tree.frames.push_back({name + "()V", name + "()"});
  }
  tree.modules = {{"[java]", ""}};
  tree.threads = {{"t", 1}};
  tree.roots = {0};
  for (uint32_t i = 0; i <= depth; ++i)
    tree.nodes.push_back(i == 0 ? model::ContextNode() : NodeOf(i - 1, 1 + i % methods));
  tree.values.assign(tree.nodes.size(), 1);
  return tree;
}

TEST(Export, StacksBeyondTheLimitAreRefusedWhereTheyAreWrittenWhole) {
  // Two million contexts below one stack of 500 frames, too short to be folded.
  model::ContextTree tree = OneDeepStack(500, 500);
  tree.nodes.resize(2'001'000, NodeOf(500, 1));
  tree.values.resize(tree.nodes.size(), 1);
  for (const char* format : {"pprof", "otlp"}) {
    const Result<void> can = WholeStacks(tree, format);
    ASSERT_FALSE(can);
    EXPECT_EQ(can.error().kind, Error::Kind::kWrongUse);
    EXPECT_NE(can.error().message.find("callgrind or sqlite"), std::string::npos);
  }
  std::fill(tree.values.begin(), tree.values.end() - 10, 0);  // contexts without values
  EXPECT_TRUE(WholeStacks(tree, "pprof"));
}

TEST(Export, DeepRecursionIsFoldedWhereStacksAreWrittenWholeAndNothingIsLost) {
  const model::ContextTree tree = OneDeepStack(20'000, 3);
  const std::string otlp = Written([&](Output& out) { return WriteOtlp(tree, "app", out); });
  EXPECT_LT(otlp.size(), 20'000u * 64 * 10) << "ten times the nodes of the profile";
  EXPECT_NE(otlp.find("recursion below 512 frames is folded"), std::string::npos);
  const std::string pprof = Written([&](Output& out) { return WritePprof(tree, out); });
  EXPECT_EQ(PprofTotals(pprof)["calls"], 20'001);
  EXPECT_LT(Unzipped(pprof).size(), 20'000u * 64 * 10);
}

TEST(Export, PeriodsOfElapsedTimeAreNotCalledCpu) {
  const ExportFolder folder;
  for (const std::string clock : {"cpu", "elapsed"}) {
    std::string metrics = kTimeMetrics;
    metrics.replace(metrics.find("\"cpu\"") + 1, 3, clock);
    SampledProfile made(metrics, 1);
    const profile::MethodId method = made.made.AddMethod("A", "m", "()V");
    made.Sample(made.made.AddThread("main", 1), {{method}}, {3});
    made.Write(folder.path() / "p.jprof");
    model::Source source = Opened(folder.path() / "p.jprof");
    const char* type = clock == "cpu" ? "cpu" : "wall";
    EXPECT_EQ(model::PeriodType(Contexts(source).measures[0]), type);
    const auto otlp = nlohmann::json::parse(ExportAs("otlp", source));
    const auto& profile = otlp["resourceProfiles"][0]["scopeProfiles"][0]["profiles"][0];
    const size_t index = profile["periodType"]["typeStrindex"];
    EXPECT_EQ(otlp["dictionary"]["stringTable"][index], type);
    EXPECT_NE(Unzipped(ExportAs("pprof", source)).find(type), std::string::npos);
  }
}

TEST(Export, AMergedProfileSaysWhatItWasMergedFrom) {
  const ExportFolder folder;
  model::Source source = Opened(folder.Write(DemoProfile()));
  source.merged = profile::MergedMeta{
      .threads = "keep", .inputs = {{}, {}, {}}, .notices = {"of different machines"}};
  source.refitted = "refitted to 5 s";
  const std::string notes = fmt::format("{}", fmt::join(Contexts(source).run.notes, "\n"));
  for (const char* part :
       {"merged: 3 profiles; threads: keep", "of different machines", "refitted"})
    EXPECT_NE(notes.find(part), std::string::npos) << notes;
}

TEST(Export, EstimatedTimesAreNamedAsSuch) {
  const ExportFolder folder;
  profile::SyntheticProfile made = DemoProfile();
  made.Current(1).entries[0] += 1000;
  const auto notes = [&] {
    model::Source source = Opened(folder.Write(made));
    return fmt::format("{}", fmt::join(Contexts(source).run.notes, "\n"));
  };
  EXPECT_EQ(notes().find("estimated"), std::string::npos);
  const std::string options = R"("options":{)";
  made.meta.replace(made.meta.find(options), options.size(), options + R"("time_every":16,)");
  EXPECT_NE(notes().find("time: estimated from one interval in 16 of frequent contexts, +- "),
            std::string::npos)
      << notes();
}

TEST(Export, ATraceIsExportedWithAllItsThreadsAndItsFirstMetric) {
  const ExportFolder folder;
  profile::SyntheticProfile made = DemoProfile();
  made.meta.replace(made.meta.find("callflow"), 8, "trace");
  ExportInput input = {.name = "app", .input = Opened(folder.Write(made)), .options = {}};
  const ExportFormat& perfetto =
      *std::ranges::find(ExportFormats(), std::string_view("perfetto"), &ExportFormat::name);
  EXPECT_TRUE(CheckExportable(perfetto, input));
  for (const Options& options : {Options{.merged = true}, Options{.metric = "time"}}) {
    input.options = options;
    const auto can = CheckExportable(perfetto, input);
    ASSERT_FALSE(can);
    EXPECT_EQ(can.error().kind, Error::Kind::kWrongUse);
  }
}

TEST(Export, TreesAndTracesAreToldApart) {
  const ExportFolder folder;
  const ExportInput input = {
      .name = "app", .input = Opened(folder.Write(DemoProfile())), .options = {}};
  for (const ExportFormat& format : ExportFormats()) {
    const Result<void> can = CheckExportable(format, input);
    EXPECT_EQ(can.has_value(), !format.of_timeline);
    EXPECT_TRUE(can || can.error().kind == Error::Kind::kWrongUse);
  }
}

}  // namespace
}  // namespace jprof::reports
