// Profiles of `jprof trace --slow`, for tests of the report and the seeds of its fuzzer.
#pragma once

#include <bit>

#include "tests/unit/reports/demo_profile.h"

namespace jprof::reports {

// A profile in which Demo.work was called three times. The second call lasted 30 ms, of which it
// waited 20 in Demo.nap, and is kept with its block and the one before it; the block with the first
// call is not kept. Demo.step is called `steps` times before. With `wait_ends_block` the call has
// two blocks, and the wait ends the first.
inline profile::SyntheticProfile DemoSlow(uint64_t steps = 1, bool wait_ends_block = false) {
  using enum FrameKind;
  profile::SyntheticProfile demo;
  demo.with_trace = true;
  const profile::MethodId main = demo.AddMethod("Demo", "main", "()V", profile::kMethodStatic);
  const profile::MethodId work = demo.AddMethod("Demo", "work", "()V");
  const profile::MethodId step = demo.AddMethod("Demo", "step", "()V");
  const profile::MethodId nap = demo.AddMethod("Demo", "nap", "()V");
  const size_t thread = demo.AddThread("worker", 101);
  const auto call = [&](profile::MethodId method, int64_t ticks) {
    demo.Enter(thread, method, kJitted, 10);
    demo.Exit(thread, ticks);
  };
  demo.Enter(thread, main, kInterpreted, 100);
  call(work, 1000);
  demo.EndBlock(thread, false);  // events 0 to 2
  for (uint64_t i = 0; i < steps; ++i) call(step, 500);
  demo.EndBlock(thread, true);  // events 3 and 4
  demo.Enter(thread, work, kJitted, 10);
  call(step, 1'000'000);
  call(step, 2'000'000);
  demo.Enter(thread, nap, kJitted, 10);
  demo.Wait(thread, 20'000'000);
  if (wait_ends_block) demo.EndBlock(thread, true);
  demo.Exit(thread, 1'000'000);
  demo.Exit(thread, 6'000'000);
  demo.EndBlock(thread, true);  // events 5 to 12
  call(work, 1000);
  demo.EndBlock(thread, false);
  profile::SlowCall slow = {.kind = profile::SlowKind::kCall,
                            .thread = static_cast<uint32_t>(thread),
                            .method = profile::PackMethod(kJitted, work),
                            .first_event = 3 + 2 * steps,
                            .last_event = 10 + 2 * steps,
                            .start_unix_ns = 1'767'323'045'500'000'000,
                            .wall_ns = 30'000'000,
                            .cpu_ticks = 10'000'030,
                            .off_cpu_ticks = 20'000'000};
  const profile::SlowCounts counts = {
      .kind = profile::SlowKind::kCounts, .thread = slow.thread, .calls = 3, .slow = 1};
  demo.slow_calls = {slow, std::bit_cast<profile::SlowCall>(counts)};
  demo.header.slow_items = 1;
  demo.header.start_unix_ns = 1'767'323'045'000'000'000;
  demo.meta = Replaced(demo.meta, R"("trace_mode":"normal")",
                       R"("trace_mode":"normal","slow":["Demo.work:10ms"])");
  demo.meta = Replaced(demo.meta, R"("mode":"callflow")", R"("mode":"trace")");
  return demo;
}

}  // namespace jprof::reports
