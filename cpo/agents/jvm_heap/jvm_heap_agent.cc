#include "cpo/agents/jvm_heap/jvm_heap_agent.h"

#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "common/control_group.h"
#include "cpo/agents/jvm_heap/gc_log.h"
#include "cpo/agents/jvm_heap/heap_model.h"
#include "options/java_program.h"

namespace jprof::cpo {

const AgentText kJvmHeapText = {
    .name = "jvm-heap",
    .reads = "the log of collections of a java command (-Xlog:gc)",
    .models = "pauses = allocated bytes / young generation, each of them as long as now",
    .directs = "collector and sizes of the heap; applied only with --agent and --runs",
    .validates = "the sum of the pauses, guarded by CPU time",
};

namespace {

namespace fs = std::filesystem;

constexpr char kPauses[] = "collection pauses";
// What the CPU time may rise by: a share of it, or seconds.
constexpr double kMostHarm = 0.05, kLeastHarm = 0.05;
constexpr uint64_t kLongestLog = uint64_t{64} << 20;

fs::path LogIn(const AgentRun& run) { return run.folder / "gc.log"; }

Result<GcLog> ReadGcLog(const AgentRun& run) {
  std::ifstream file(LogIn(run), std::ios::binary);
  std::stringstream text;
  std::error_code ignored;
  if (fs::file_size(LogIn(run), ignored) <= kLongestLog) text << file.rdbuf();
  GcLog log = ParseGcLog(text.view());
  if (log.collector.empty())
    return Fail("the JVM has written no log of its collections (-Xlog:gc)");
  return log;
}

uint32_t Processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
  return static_cast<uint32_t>(std::max(1, CPU_COUNT(&set)));
}

bool StartsWithOneOf(std::string_view word, std::initializer_list<std::string_view> beginnings) {
  return std::ranges::any_of(beginnings,
                             [&](std::string_view one) { return word.starts_with(one); });
}

// Returns whether an option of java chooses a collector, or sizes of its generations.
bool ChoosesCollector(std::string_view word) {
  return word.starts_with("-XX:+Use") && word.ends_with("GC");
}
bool ChoosesSizes(std::string_view word) {
  return StartsWithOneOf(word, {"-Xmn", "-Xms", "-XX:NewSize", "-XX:MaxNewSize", "-XX:NewRatio",
                                "-XX:InitialHeapSize", "-XX:InitialRAMPercentage"});
}
// Returns whether the options are not all on the command line.
bool ReadsOptionsElsewhere(std::string_view word) {
  return word.starts_with('@') || StartsWithOneOf(word, {"-XX:Flags=", "-XX:VMOptionsFile="});
}

// Returns the bytes of -Xmx, or 0 if there is none.
uint64_t LargestHeapOf(const std::vector<std::string>& options) {
  uint64_t bytes = 0;
  for (const std::string& word : options) {
    if (!word.starts_with("-Xmx")) continue;
    char* end = nullptr;
    const uint64_t number = std::strtoull(word.c_str() + 4, &end, 10);
    const char unit = static_cast<char>(std::tolower(static_cast<unsigned char>(*end)));
    bytes = number << (unit == 'k' ? 10 : unit == 'm' ? 20 : unit == 'g' ? 30 : 0);
  }
  return bytes;
}

// Returns the options of the JVM: those of the command before its main class, and of variables.
std::vector<std::string> OptionsOf(const std::vector<std::string>& command) {
  const size_t end = std::min(options::MainAt(command), command.size());
  std::vector<std::string> words(command.begin() + 1, command.begin() + static_cast<long>(end));
  for (const char* name : {"JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"}) {
    const char* const value = std::getenv(name);
    std::istringstream parts(value != nullptr ? value : "");
    for (std::string word; parts >> word;) words.push_back(word);
  }
  return words;
}

// Returns the options of a directive as words.
std::vector<std::string> WordsOf(const std::string& setting) {
  std::vector<std::string> words;
  std::istringstream parts(setting);
  for (std::string word; parts >> word;) words.push_back(word);
  return words;
}

class JvmHeapAgent final : public Agent {
 public:
  const AgentText& text() const override { return kJvmHeapText; }
  bool IsOnRequest() const override { return true; }

  Result<void> Eligible(const ProgramCommand& command) override {
    std::error_code ignored;
    const fs::path real = fs::canonical(command.program, ignored);
    if (real.filename() != "java") return Fail("it is not a java command");
    if (options::OnlyAsksTheVm(command.words)) return Fail("it only asks the JVM");
    if (!fs::exists(real.parent_path().parent_path() / "lib" / "modules", ignored))
      return Fail("its JVM is older than Java 9, or not HotSpot, and has no -Xlog");
    const std::vector<std::string> words = OptionsOf(command.words);
    for (const std::string& word : words) {
      if (ChoosesSizes(word)) return Fail("it chooses sizes itself, by {}", word);
      if (ReadsOptionsElsewhere(word)) return Fail("it reads options from a file, by {}", word);
    }
    limits_.may_choose_collector = std::ranges::none_of(words, ChoosesCollector);
    limits_.processors = Processors();
    limits_.heap = LargestHeapOf(words);
    // The default of HotSpot, which the options do not exceed, is a quarter of the memory.
    if (limits_.heap == 0) limits_.heap = AvailableMemory().value_or(0) / 4;
    return {};
  }

  Result<void> Measure(AgentRun& run) override { return Apply({}, run); }

  Result<std::vector<Proposal>> Model(const AgentRun& run,
                                      const record::Outcome& outcome) override {
    const auto log = ReadGcLog(run);
    if (!log) return std::unexpected(log.error());
    const auto advice = AdviseHeap(*log, limits_);
    if (!advice) return std::vector<Proposal>();
    return std::vector<Proposal>{
        {.kind = "java-heap",
         .key = "options",
         .text = advice->options,
         .setting = advice->options,
         .cost = advice->cost,
         .predictions = {{.figure = kPauses,
                          .unit = kSeconds,
                          .value = advice->saved,
                          .low = advice->low,
                          .high = advice->high},
                         {.figure = kCpuTime,
                          .unit = kSeconds,
                          .value = 0,
                          .low = -std::max(kLeastHarm, kMostHarm * outcome.cpu_seconds),
                          .high = 0,
                          .is_guard = true}},
         .claim = {}}};
  }

  Result<void> Apply(const std::vector<Directive>& directives, AgentRun& run) override {
    std::vector<std::string> words = {GcLogOption(LogIn(run).string())};
    for (const Directive& directive : directives) {
      for (std::string& word : WordsOf(directive.proposal.setting))
        words.push_back(std::move(word));
    }
    auto& arguments = run.launch.arguments;
    arguments.insert(arguments.begin() + 1, words.begin(), words.end());
    return {};
  }

  Result<std::vector<Figure>> Observe(const AgentRun& run,
                                      const record::Outcome& outcome) override {
    const auto log = ReadGcLog(run);
    if (!log) return std::unexpected(log.error());
    return std::vector<Figure>{{kPauses, log->PauseSeconds(), kSeconds},
                               {kCpuTime, outcome.cpu_seconds, kSeconds},
                               {"collections", static_cast<double>(log->pauses.size()), ""},
                               {"allocated", static_cast<double>(log->Allocated()), "bytes"},
                               {"live", static_cast<double>(log->Live()), "bytes"}};
  }

 private:
  HeapLimits limits_;
};

}  // namespace

std::unique_ptr<Agent> MakeJvmHeapAgent() { return std::make_unique<JvmHeapAgent>(); }

}  // namespace jprof::cpo
