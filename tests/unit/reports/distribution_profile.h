// A profile with distributions of calls: of method `work` in two contexts, below `main` and below
// `other`, whose calls are known one by one.
#pragma once

#include <vector>

#include "tests/unit/reports/demo_profile.h"

namespace jprof::reports {

struct WatchedCallMade {
  uint64_t cpu = 0, elapsed = 0;  // ticks
  uint64_t events = 1, timed = 1;
};

inline void AddCall(uint64_t ticks, const WatchedCallMade& call, profile::DurationRecord& to) {
  const profile::TimedCalls one = {
      .calls = 1, .ticks = ticks, .events = call.events, .timed = call.timed};
  if (to.shortest.calls == 0 || ticks < to.shortest.ticks) to.shortest = one;
  if (to.longest.calls == 0 || ticks > to.longest.ticks) to.longest = one;
  profile::TimedCalls& bucket = to.buckets[profile::BucketOf(ticks)];
  ++bucket.calls;
  bucket.ticks += ticks;
  bucket.events += call.events;
  bucket.timed += call.timed;
}

class DistributionProfile {
 public:
  DistributionProfile() {
    const auto type = FrameKind::kJitted;
    const profile::MethodId main = made.AddMethod("Demo", "main", "()V");
    const profile::MethodId other = made.AddMethod("Demo", "other", "()V");
    work_ = made.AddMethod("Demo", "work", "(I)I");
    thread_ = made.AddThread("main", 100);
    made.Enter(thread_, main, type, 0);
    Add(0, {});
    made.Enter(thread_, other, type, 0);
    Add(1, {});
    made.Exit(thread_, 0);
    made.meta.insert(made.meta.find("\"fold_recursion\""),
                     "\"distribution\":[\"+Demo.work\",\"+Demo.missing\"],");
    made.header.watched_patterns = 1;
    made.header.ticks_per_second = 1'000'000'000;
  }

  // Adds calls: of the context below `main` (0), or below `other` (1). A call's time is that of the
  // method itself.
  void Add(size_t context, const std::vector<WatchedCallMade>& calls) {
    if (context >= made.distributions.size()) {
      made.Enter(thread_, work_, FrameKind::kJitted, 0);
      profile::DistributionRecord record;
      record.node = static_cast<uint32_t>(&made.Current(thread_) - made.nodes.data());
      made.nodes[record.node].entries[0] = 0;
      made.distributions.push_back(record);
      made.Exit(thread_, 0);
      made.nodes[record.node].exits[0] = 0;
    }
    profile::DistributionRecord& record = made.distributions[context];
    profile::Node& node = made.nodes[record.node];
    for (const WatchedCallMade& call : calls) {
      AddCall(call.cpu, call, record.cpu);
      AddCall(call.elapsed, call, record.elapsed);
      ++node.entries[0];
      ++node.exits[0];
      node.self += static_cast<int64_t>(call.cpu);
    }
  }

  profile::SyntheticProfile made;

 private:
  profile::MethodId work_{};
  size_t thread_ = 0;
};

// 100 calls of 1 us, one of 1 ms that waits 1 s, and 10 of 50 us in another context.
inline DistributionProfile DemoDistributions() {
  DistributionProfile demo;
  demo.Add(0, std::vector<WatchedCallMade>(100, {.cpu = 1000, .elapsed = 1000}));
  demo.Add(0, {{.cpu = 1'000'000, .elapsed = 1'001'000'000}});
  demo.Add(1, std::vector<WatchedCallMade>(10, {.cpu = 50'000, .elapsed = 50'000}));
  return demo;
}

}  // namespace jprof::reports
