// What an event costs: the handlers that the probes jump to, called by a recursion that does
// nothing else, beside a handler that only counts and beside the clock read itself. Ends with the
// ratios that matter:
//   counts   calltree's handler to one that only counts: at most 2
//   time     callflow's handler to one clock read: at most 1.5
// An event's cost is what the recursion takes with the handlers less what it takes without, by
// event; the call from the probe is in it. Times are the least of several repetitions: other
// programs only add.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "jprof/engine/session.h"
#include "jprof/hotspot/probe/handlers.h"
#include "ptm/tsc.h"

namespace jprof {
namespace {

using hotspot::Handlers;

constexpr int kDepth = 20;
constexpr double kEvents = 2 * 21891;  // fib(20) makes 21891 calls

class OneMethod : public engine::MethodSource {
 public:
  bool Describe(uint64_t, engine::MethodText* text) override {
    *text = {"bench/Fib", "fib", "(I)I", true, false};
    return true;
  }
  FrameKind Classify(uint64_t) override { return FrameKind::kRejitted; }
};

// A recording in a temporary directory, while it lives.
class Recording {
 public:
  explicit Recording(bool clock) {
    std::string name = (std::filesystem::temp_directory_path() / "hot_path_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) return;
    directory_ = name;
    engine::SessionOptions options;
    options.files.directory = directory_ + "/profile";
    options.clock = clock;
    started_ = session_->Start(std::move(options), &source_).has_value();
  }
  ~Recording() {
    engine::ThreadRegistry::Detach();
    if (started_) session_->Finish();
    std::filesystem::remove_all(directory_);
  }
  bool started() const { return started_; }

 private:
  OneMethod source_;
  std::unique_ptr<engine::Session> session_ = std::make_unique<engine::Session>();
  std::string directory_;
  bool started_ = false;
};

char vm_thread[4096];
int method;

// Aligned: where small functions lie in their cache lines moves their times by a quarter.
#define JPROF_ALIGNED [[gnu::noipa, gnu::aligned(64)]]

JPROF_ALIGNED int Plain(int n) {
  benchmark::DoNotOptimize(n);
  return n < 2 ? n : Plain(n - 1) + Plain(n - 2);
}

// What the probes call: a function that is nothing but a jump to the handler, as the patched ones
// are.
Handlers handlers;
JPROF_ALIGNED int EntryProbe(char* thread, void* entered) {
  return handlers.entry(thread, entered);
}
JPROF_ALIGNED int ExitProbe(char* thread, void* left) { return handlers.exit(thread, left); }

JPROF_ALIGNED int Probed(int n) {
  EntryProbe(vm_thread, &method);
  benchmark::DoNotOptimize(n);
  const int result = n < 2 ? n : Probed(n - 1) + Probed(n - 2);
  ExitProbe(vm_thread, &method);
  return result;
}

// The least that counts without losing anything: finds its thread's counters, if it has any yet.
struct Counts {
  uint64_t entries = 0;
  uint64_t exits = 0;
};
__thread Counts* counts __attribute__((tls_model("initial-exec"))) = nullptr;

[[gnu::noinline, gnu::cold]] int NewThread() { std::abort(); }

JPROF_ALIGNED int CountEntry(char*, void*) {
  if (counts == nullptr) [[unlikely]]
    return NewThread();
  ++counts->entries;
  return 0;
}
JPROF_ALIGNED int CountExit(char*, void*) {
  if (counts == nullptr) [[unlikely]]
    return NewThread();
  ++counts->exits;
  return 0;
}

void NoHandler(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(Plain(kDepth));
}

void CountOnly(benchmark::State& state) {
  Counts here;
  counts = &here;
  handlers = {CountEntry, CountExit};
  for (auto _ : state) benchmark::DoNotOptimize(Probed(kDepth));
  if (here.entries != here.exits || here.entries == 0) state.SkipWithError("lost events");
}

void Record(benchmark::State& state, engine::RecordingKind kind) {
  Recording recording(kind != engine::RecordingKind::kCountTree);
  if (!recording.started()) return state.SkipWithError("no recording");
  handlers = hotspot::HandlersFor(kind, {}, {});
  Probed(kDepth);
  for (auto _ : state) benchmark::DoNotOptimize(Probed(kDepth));
}

void OneClockRead(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(ptm::ReadTsc());
}

void TwoClockReads(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(ptm::ReadTsc());
    benchmark::DoNotOptimize(ptm::ReadTsc());
  }
}

BENCHMARK(NoHandler);
BENCHMARK(CountOnly);
BENCHMARK_CAPTURE(Record, calltree, engine::RecordingKind::kCountTree);
BENCHMARK_CAPTURE(Record, callflow, engine::RecordingKind::kTimeTree);
BENCHMARK(OneClockRead);
BENCHMARK(TwoClockReads);

// Shows the runs as usual and keeps the least time of each.
class LeastTimes : public benchmark::ConsoleReporter {
 public:
  void ReportRuns(const std::vector<Run>& runs) override {
    ConsoleReporter::ReportRuns(runs);
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration || run.error_occurred) continue;
      const std::string& name = run.run_name.function_name;
      const double ns = run.GetAdjustedCPUTime();
      const auto [at, first] = least_.try_emplace(name, ns);
      if (!first) at->second = std::min(at->second, ns);
    }
  }
  double Least(const std::string& name) const {
    const auto at = least_.find(name);
    return at == least_.end() ? 0 : at->second;
  }

 private:
  std::map<std::string, double> least_;
};

void PrintRatio(const char* what, double value, double of, double bound) {
  if (value <= 0 || of <= 0) return;
  std::printf("%-52s %6.2f   bound %.1f   %s\n", what, value / of, bound,
              value / of <= bound ? "held" : "BROKEN");
}

void PrintRatios(const LeastTimes& times) {
  const auto event = [&](const char* name) {
    return std::max(0.0, (times.Least(name) - times.Least("NoHandler")) / kEvents);
  };
  const double read = times.Least("OneClockRead");
  std::printf(
      "\nns per event: count only %.2f, calltree %.2f, "
      "callflow %.2f; one clock read %.2f, two %.2f\n",
      event("CountOnly"), event("Record/calltree"), event("Record/callflow"), read,
      times.Least("TwoClockReads"));
  PrintRatio("counts: calltree event / count-only event", event("Record/calltree"),
             event("CountOnly"), 2);
  PrintRatio("time: callflow event / one clock read", event("Record/callflow"), read, 1.5);
}

}  // namespace
}  // namespace jprof

int main(int argc, char** argv) {
  std::vector<char*> arguments(argv, argv + argc);
  char repetitions[] = "--benchmark_repetitions=7";
  char shortly[] = "--benchmark_min_time=0.1";
  arguments.insert(arguments.begin() + 1,
                   {repetitions, shortly});  // what the user says comes later and wins
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 2;
  jprof::LeastTimes times;
  benchmark::RunSpecifiedBenchmarks(&times);
  jprof::PrintRatios(times);
  return 0;
}
