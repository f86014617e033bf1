// Sampled profiles without a JVM: stacks in, a profile directory out. For tests of scs and compare.
#pragma once

#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/reports/demo_profile.h"

namespace jprof::reports {

inline constexpr char kTimeMetrics[] =
    R"({"name":"samples","unit":"samples","scale":1,"kind":"samples","period":1000000,"period_unit":"ns","period_clock":"cpu"})";
inline constexpr char kBytesMetrics[] =
    R"({"name":"ALLOCATED_BYTES","unit":"bytes","scale":1,"kind":"weighted","period":524288,"period_unit":"bytes"},
       {"name":"ALLOCATED_BYTES.samples","unit":"samples","scale":1,"kind":"samples"})";

inline std::string SampledMeta(const std::string& metrics, const std::string& mode = "scs") {
  return R"({"format":1,"jprof":"0.1.0","mode":")" + mode +
         R"(","pid":42,"command":["java","Demo"],"start":"2026-01-02T03:04:05Z","metrics":[)" +
         metrics + R"(],"jvm":{"name":"Test VM","version":"17"}})";
}

// A frame: method id and type. Methods are made once by AddMethod of `made`.
struct Frame {
  profile::MethodId method;
  FrameKind type = FrameKind::kRejitted;
};

class SampledProfile {
 public:
  explicit SampledProfile(const std::string& metrics, size_t metric_count)
      : metrics_(metric_count) {
    made.meta = SampledMeta(metrics);
    made.header.metric_count = static_cast<uint32_t>(metric_count);
  }

  // `values`: one a metric, added to the leaf of the stack, which begins with the root.
  // Returns the leaf's node.
  uint32_t Sample(size_t thread, const std::vector<Frame>& stack,
                  const std::vector<int64_t>& values) {
    uint32_t at = made.threads[thread].root;
    for (const Frame& frame : stack) at = Child(at, frame);
    std::vector<int64_t>& sums = values_[at];
    sums.resize(metrics_);
    for (size_t m = 0; m < metrics_; ++m) sums[m] += values[m];
    ++made.threads[thread].samples;
    return at;
  }

  // Puts the values into the nodes.
  void Finish() {
    made.extra.assign(made.nodes.size() * (metrics_ - 1), 0);
    for (const auto& [node, sums] : values_) {
      made.nodes[node].self = sums[0];
      for (size_t m = 1; m < metrics_; ++m) made.extra[node * (metrics_ - 1) + m - 1] = sums[m];
    }
  }

  void Write(const std::filesystem::path& directory) {
    Finish();
    std::filesystem::remove_all(directory);
    made.Write(directory);
  }

  profile::SyntheticProfile made;

 private:
  uint32_t Child(uint32_t parent, const Frame& frame) {
    const auto [known, is_new] = children_.try_emplace({parent, IndexOf(frame.method)}, 0);
    if (is_new) known->second = made.AddNode(profile::PackMethod(frame.type, frame.method), parent);
    return known->second;
  }

  size_t metrics_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> children_;
  std::map<uint32_t, std::vector<int64_t>> values_;
};

// Every kind of frame: interpreted, C2, inlined, native method, native function, kernel, stub,
// class of objects.
inline SampledProfile DemoSamples() {
  SampledProfile demo(std::string(kTimeMetrics) + "," + kBytesMetrics, 3);
  profile::SyntheticProfile& made = demo.made;
  const profile::MethodId main =
      made.AddMethod("Demo", "main", "([Ljava/lang/String;)V", profile::kMethodStatic);
  const profile::MethodId work = made.AddMethod("Demo", "work", "(I)I");
  const profile::MethodId step = made.AddMethod("Demo", "step", "()V");
  const profile::MethodId read =
      made.AddMethod("java/io/FileInputStream", "read0", "()I", profile::kMethodNative);
  const profile::MethodId code =
      made.AddMethod("/nowhere/libdemo.so", "0x1f40", "", profile::kMethodCode);
  const profile::MethodId kernel =
      made.AddMethod("vmlinux", "ksys_read", "", profile::kMethodKernel);
  const profile::MethodId stub =
      made.AddMethod("", "StubRoutines::arraycopy", "", profile::kMethodStub);
  const profile::MethodId object =
      made.AddMethod("java/lang/String", "", "", profile::kMethodClass);
  const size_t thread = made.AddThread("main", 100);
  const size_t worker = made.AddThread("pool;1", 101);
  const auto ticks = [&](size_t on, const std::vector<Frame>& stack, int count) {
    for (int i = 0; i < count; ++i) demo.Sample(on, stack, {1, 0, 0});
  };
  using enum FrameKind;
  ticks(thread, {{main, kInterpreted}}, 3);
  ticks(thread, {{main, kInterpreted}, {work}}, 20);
  ticks(thread, {{main, kInterpreted}, {work}, {step, kInlined}}, 60);
  ticks(thread, {{main, kInterpreted}, {work}, {stub, kOther}}, 2);
  ticks(thread, {{main, kInterpreted}, {read, kNative}, {code, kFunction}, {kernel, kOther}}, 10);
  ticks(worker, {{work}}, 5);
  demo.Sample(thread, {{main, kInterpreted}, {work}, {object, kOther}}, {0, 1048576, 2});
  demo.Sample(worker, {{work}, {step, kInlined}, {object, kOther}}, {0, 524288, 1});
  made.threads[thread].samples_unknown = 1;
  made.threads[thread].samples_truncated = 2;
  made.threads[worker].samples_own = 3;
  made.threads[worker].samples_lost = 4;
  made.threads[thread].sampling_ticks = 202'000;
  made.header.sampled_cpu_ns = 104'000'000;
  made.header.signalled_cpu_ns = 100'000'000;
  return demo;
}

// Returns an empty profile of mode objects. `more` describes metrics beyond bytes and objects, each
// after a comma; `count` is the number of all metrics.
inline SampledProfile ProfileOfObjects(const std::string& more = "", size_t count = 2) {
  SampledProfile demo(R"({"name":"bytes","unit":"bytes","scale":1,"kind":"exact"},
                         {"name":"objects","unit":"objects","scale":1,"kind":"exact"})" +
                          more,
                      count);
  std::string& meta = demo.made.meta;
  meta.replace(meta.find("scs"), 3, "objects");
  return demo;
}

// A profile of mode objects: two methods that allocate, an array, and bytes that were not seen.
inline SampledProfile DemoObjects() {
  SampledProfile demo = ProfileOfObjects();
  profile::SyntheticProfile& made = demo.made;
  const profile::MethodId main = made.AddMethod("Demo", "main", "([Ljava/lang/String;)V");
  const profile::MethodId work = made.AddMethod("Demo", "work", "(I)I");
  const profile::MethodId point = made.AddMethod("Demo$Point", "", "", profile::kMethodClass);
  const profile::MethodId chars = made.AddMethod("[C", "", "", profile::kMethodClass);
  const profile::MethodId unseen =
      made.AddMethod("", "(not seen by the probe)", "", profile::kMethodStub);
  const size_t thread = made.AddThread("main", 100);
  using enum FrameKind;
  demo.Sample(thread, {{main, kWoven}, {point, kClass}}, {48, 2});
  demo.Sample(thread, {{main, kWoven}, {work, kWoven}, {point, kClass}}, {2400, 100});
  demo.Sample(thread, {{main, kWoven}, {work, kWoven}, {chars, kClass}}, {4000, 50});
  demo.Sample(thread, {{unseen, kOther}}, {72, 0});
  return demo;
}

// Live objects of Demo$Point, sampled once in 100 bytes on average, at three snapshots: those of
// main stay as they are, and work makes more and more. So a profile of DemoObjects with live ones.
inline SampledProfile DemoLive() {
  const std::string estimate = R"("scale":1,"kind":"estimate","period":100,"period_unit":"bytes"})";
  SampledProfile demo =
      ProfileOfObjects(R"(,{"name":"live_bytes","unit":"bytes",)" + estimate +
                           R"(,{"name":"live_objects","unit":"objects",)" + estimate,
                       4);
  profile::SyntheticProfile& made = demo.made;
  const profile::MethodId main = made.AddMethod("Demo", "main", "([Ljava/lang/String;)V");
  const profile::MethodId work = made.AddMethod("Demo", "work", "(I)I");
  const profile::MethodId point = made.AddMethod("Demo$Point", "", "", profile::kMethodClass);
  const size_t thread = made.AddThread("main", 100);
  using enum FrameKind;
  const uint32_t stays =
      demo.Sample(thread, {{main, kWoven}, {point, kClass}}, {2400, 100, 225, 9});
  const uint32_t grows =
      demo.Sample(thread, {{main, kWoven}, {work, kWoven}, {point, kClass}}, {4800, 200, 450, 19});
  for (uint32_t i = 1; i <= 3; ++i)
    made.live.push_back({.first = i, .last = i, .bytes = i * uint64_t{1'000'000'000}});
  for (int i = 0; i < 2; ++i)
    made.live.push_back({.node = stays, .objects = 1, .first = 1, .last = 3, .bytes = 24});
  for (uint32_t i = 0; i < 60; ++i)
    made.live.push_back({.node = grows, .objects = 1, .first = 1 + i / 20, .last = 3, .bytes = 24});
  made.header.live_snapshots = 3;
  return demo;
}

// A profile in which the compiler has removed most of the points, a native method has made others,
// and the nodes of classes have the number of those that were asked for.
inline SampledProfile RemovedObjects() {
  SampledProfile demo =
      ProfileOfObjects(R"(,{"name":"asked","unit":"objects","scale":1,"kind":"exact"})", 3);
  profile::SyntheticProfile& made = demo.made;
  const profile::MethodId work = made.AddMethod("Demo", "work", "(I)I");
  const profile::MethodId load = made.AddMethod("Demo", "load", "()V");
  const profile::MethodId point = made.AddMethod("Demo$Point", "", "", profile::kMethodClass);
  const profile::MethodId gone = made.AddMethod("Demo$Gone", "", "", profile::kMethodClass);
  const size_t thread = made.AddThread("main", 100);
  using enum FrameKind;
  const auto ask = [&](uint32_t node, uint64_t count) {
    made.nodes[node].entries[0] = static_cast<uint32_t>(count);
    made.nodes[node].entries[1] = static_cast<uint32_t>(count >> 32);
  };
  ask(demo.Sample(thread, {{work, kWoven}, {point, kClass}}, {48, 2, 0}), 100);
  ask(demo.Sample(thread, {{load, kWoven}, {point, kClass}}, {720, 30, 0}), 10);
  ask(demo.Sample(thread, {{work, kWoven}, {gone, kClass}}, {0, 0, 0}), 6'000'000'000);
  return demo;
}

// The methods m0, m1, ... of class C in `leaves` contexts below main; context i gets counts[i]
// samples.
inline SampledProfile SpreadSamples(const std::vector<int>& counts, bool with_native = false) {
  SampledProfile spread(kTimeMetrics, 1);
  const profile::MethodId main = spread.made.AddMethod("C", "main", "()V");
  const profile::MethodId native =
      spread.made.AddMethod("/nowhere/libx.so", "0x10", "", profile::kMethodCode);
  const size_t thread = spread.made.AddThread("main", 100);
  for (size_t i = 0; i < counts.size(); ++i) {
    const profile::MethodId method = spread.made.AddMethod("C", "m" + std::to_string(i), "()V");
    for (int n = 0; n < counts[i]; ++n) {
      std::vector<Frame> stack = {{main}, {method}};
      if (with_native && n % 3 == 0) stack.push_back({native, FrameKind::kFunction});
      spread.Sample(thread, stack, {1});
    }
  }
  return spread;
}

}  // namespace jprof::reports
