// The profile most report tests look at: two threads, recursion, a method that is compiled on the
// way, a static method, an exception-like exit, a call still open.
#pragma once

#include <cstdio>
#include <random>
#include <sstream>
#include <string>

#include "calibrate/model/table.h"
#include "reports/report_list.h"
#include "tests/unit/profile/synthetic_profile.h"

namespace jprof::reports {

inline profile::SyntheticProfile DemoProfile(bool with_trace = false) {
  using enum FrameKind;
  profile::SyntheticProfile demo;
  demo.with_trace = with_trace;
  const profile::MethodId main =
      demo.AddMethod("Demo", "main", "([Ljava/lang/String;)V", profile::kMethodStatic);
  const profile::MethodId fib = demo.AddMethod("Demo", "fib", "(I)I", profile::kMethodStatic);
  const profile::MethodId append =
      demo.AddMethod("java/lang/StringBuffer", "append", "(J)Ljava/lang/StringBuffer;");
  const profile::MethodId read =
      demo.AddMethod("java/io/FileInputStream", "read0", "()I", profile::kMethodNative);

  const size_t worker = demo.AddThread("worker", 101);
  demo.Enter(worker, read, kNative, 10);
  demo.Exit(worker, 500);

  const size_t thread = demo.AddThread("main", 100);
  demo.Enter(thread, main, kInterpreted, 100);
  for (int i = 0; i < 3; ++i) {
    const FrameKind tier =
        i == 0 ? kInterpreted : kJitted;  // append is compiled after its first call
    demo.Enter(thread, append, tier, 20);
    demo.Exit(thread, 1000);
  }
  demo.Enter(thread, fib, kRejitted, 30);
  demo.Enter(thread, fib, kRejitted, 5);
  demo.Enter(thread, fib, kRejitted, 5);
  demo.Exit(thread, 7);
  demo.Exit(thread, 3);
  demo.Exit(thread, 2);
  demo.Enter(thread, read, kNative, 40);  // has not returned
  demo.Current(thread).dispatches = 2;
  demo.threads[worker].healed = 1;
  return demo;
}

// A table in which every transition has a cost; `seed` 0: all the same.
inline calibrate::Table DemoTable(unsigned seed = 0) {
  std::mt19937 random(seed);
  calibrate::Metric metric{.name = "time", .unit = "ns", .granularity = 10};
  for (const EventKind previous : {EventKind::kEntry, EventKind::kExit}) {
    for (const EventKind event : {EventKind::kEntry, EventKind::kExit}) {
      for (const char running : std::string("IJRNijrnT")) {
        for (const char other : std::string("IJRNijrnT")) {
          const double overhead = seed == 0 ? 4 : 1 + static_cast<double>(random() % 50) / 8;
          metric.keys[{previous, running, event, other}] = {.count = 9,
                                                            .observed = overhead + 1,
                                                            .truth = 1,
                                                            .overhead = overhead,
                                                            .spread = 2,
                                                            .repeat = 0.5};
        }
      }
    }
  }
  return {.fingerprint = {{"cpu", "c"}}, .made_at = "2026-01-01T00:00:00Z", .metrics = {metric}};
}

// A random program on `threads` threads: `events` entries and exits, ten methods, types that
// change.
inline profile::SyntheticProfile RandomProfile(unsigned seed, int threads, int events,
                                               bool with_trace = false) {
  std::mt19937 random(seed);
  profile::SyntheticProfile made;
  made.with_trace = with_trace;
  std::vector<profile::MethodId> methods;
  for (int i = 0; i < 10; ++i) {
    methods.push_back(made.AddMethod("pkg/C" + std::to_string(i % 3), "m" + std::to_string(i),
                                     "()V", i % 2 == 0 ? profile::kMethodStatic : 0));
  }
  std::vector<size_t> depth(static_cast<size_t>(threads));
  for (int i = 0; i < threads; ++i)
    made.AddThread("thread " + std::to_string(i), 100 + static_cast<uint32_t>(i));
  for (int i = 0; i < events; ++i) {
    const size_t thread = random() % static_cast<size_t>(threads);
    const auto delta = static_cast<int64_t>(random() % 40);
    if (depth[thread] > 0 && (depth[thread] > 12 || random() % 2 == 0)) {
      made.Exit(thread, delta);
      --depth[thread];
      continue;
    }
    const FrameKind type =
        static_cast<FrameKind>(1 + (random() % 100 < 5 ? random() % 4 : i * 3 / events));
    made.Enter(thread, methods[random() % methods.size()], type, delta);
    ++depth[thread];
  }
  return made;
}

// Returns the text with `by` in place of each `what`.
inline std::string Replaced(std::string text, const std::string& what, const std::string& by) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

// Returns the words of the text with one blank between them, whatever lines they were on.
inline std::string Unwrapped(const std::string& text) {
  std::istringstream words(text);
  std::string line;
  for (std::string word; words >> word;) line += (line.empty() ? "" : " ") + word;
  return line;
}

struct Printed {
  std::string text;
  Result<void> result;
};

// Returns whether the report prints one profile as text.
inline bool PrintsProfiles(const Report& report) {
  return report.print != nullptr && report.Prints(model::InputKind::kProfile) &&
         !report.Prints(model::InputKind::kEvents);
}

// Returns one report of a profile directory, as text.
inline Printed Print(const std::string& report, const std::filesystem::path& directory,
                     const Options& options, std::optional<calibrate::Table> table = {}) {
  Result<profile::Reader> reader = profile::Reader::Open(directory);
  if (!reader) return {"", std::unexpected(reader.error())};
  model::Source source{std::move(*reader), std::move(table), "table",
                       "no table: run jprof calibrate"};
  source.merged = profile::ReadMerged(source.reader);
  char* text = nullptr;
  size_t size = 0;
  std::FILE* file = open_memstream(&text, &size);
  Printed printed;
  Output out(file);
  model::Input input = std::move(source);
  for (const Report& one : Reports()) {
    if (one.name != report) continue;
    printed.result = PrintReport(one, input, options, out);
    if (printed.result) printed.result = out.Finish();
  }
  std::fclose(file);
  printed.text.assign(text, size);
  std::free(text);
  return printed;
}

}  // namespace jprof::reports
