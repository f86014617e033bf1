// Profiles of locks without a JVM, for tests of log-jlm and the seeds of the fuzzer.
#pragma once

#include <string>
#include <vector>

#include "profile/files/lock_metrics.h"
#include "tests/unit/reports/sampled_profile.h"

namespace jprof::reports {

inline std::string LockMeta(bool lite) {
  profile::Meta meta = {.jprof = "0.1.0",
                        .mode = "locks",
                        .pid = 42,
                        .command = {"java", "Demo"},
                        .start = "2026-01-02T03:04:05Z",
                        .metrics = profile::LockMetrics(lite),
                        .jvm = {.name = "Test VM", .version = "17"}};
  return ToJson(meta);
}

class LockProfile {
 public:
  explicit LockProfile(bool lite = false) : samples_("", profile::LockMetrics(lite).size()) {
    made().meta = LockMeta(lite);
  }

  // Takes a lock `gets` times in a context, whose node is returned. `values` are those of the
  // metrics.
  uint32_t Take(size_t thread, std::vector<Frame> stack, profile::MethodId lock, uint32_t gets,
                const std::vector<int64_t>& values) {
    for (Frame& frame : stack) frame.type = FrameKind::kWoven;
    stack.push_back({lock, FrameKind::kWoven});
    const uint32_t node = samples_.Sample(thread, stack, values);
    made().nodes[node].entries[0] += gets;
    return node;
  }

  void Write(const std::filesystem::path& directory) { samples_.Write(directory); }
  profile::SyntheticProfile& made() { return samples_.made; }
  const profile::SyntheticProfile& Finished() {
    samples_.Finish();
    return made();
  }

 private:
  SampledProfile samples_;
};

// Two locks that two threads take in contradicting orders, of the same objects, and a third one
// that is never waited for. Metrics: wait, slow, hold, nonrec.
inline LockProfile DemoLocks() {
  LockProfile demo;
  profile::SyntheticProfile& made = demo.made();
  const auto class_of = [&](const char* name) {
    return made.AddMethod(name, "", "", profile::kMethodClass);
  };
  const profile::MethodId main = made.AddMethod("app/Main", "main", "([Ljava/lang/String;)V");
  const profile::MethodId there = made.AddMethod("app/Main", "there", "()V");
  const profile::MethodId back = made.AddMethod("app/Main", "back", "()V");
  const profile::MethodId left = class_of("app/Left"), right = class_of("app/Right"),
                          quiet = class_of("app/Quiet");
  const size_t first = made.AddThread("main", 100), second = made.AddThread("other", 101);
  const uint32_t left_there =
      demo.Take(first, {{main}, {there}}, left, 10, {0, 0, 1'000'000'000, 8});
  const uint32_t right_there = demo.Take(first, {{main}, {there}}, right, 4, {0, 0, 4000, 4});
  const uint32_t right_back = demo.Take(second, {{back}}, right, 5, {0, 0, 10'000, 5});
  const uint32_t left_back = demo.Take(second, {{back}}, left, 5, {6000, 2, 2000, 4});
  demo.Take(first, {{main}}, quiet, 100, {0, 0, 100, 100});
  using profile::LockEdgeKind;
  made.locks = {{LockEdgeKind::kOrder, left_there, right_there, 0xa, 0xb, 0, 1, 0},
                {LockEdgeKind::kOrder, right_back, left_back, 0xb, 0xa, 0, 1, 0},
                {LockEdgeKind::kWait, left_back, left_there, 0, 0xa, 0, 1, 5000},
                {LockEdgeKind::kWait, left_back, 0, 0, 0xa, 0, 1, 1000}};
  return demo;
}

}  // namespace jprof::reports
