#include "jprof/agent/sampling/idle_requests.h"

#include "jprof/agent/sampling/sample_signals.h"
#include "jprof/agent/sampling/sampled_thread.h"
#include "ptm/tsc.h"

namespace jprof::agent {

// 1. Add the time of this tick to each sampled thread's account, less its CPU time for IDLE.
// 2. Signal the threads that look idle and have at least a period of unsampled time, from where the
//    last tick stopped, until the limit is reached.
// 3. Store the number of requested ticks separately, because the kernel merges pending signals.
void IdleRequests::Request(size_t trigger, const IdleTick& tick) {
  const double ns_per_tick = 1e9 / session_.clock().ticks_per_second;
  session_.threads().ForEach([&](engine::Thread& thread) {
    SampledThread* sampled = SampledThreadOf(thread);
    if (sampled == nullptr || (thread.attention & engine::kNotRecorded) != 0) return;
    const auto cpu_ns = ptm::VirtualClock::CpuNanosOf(thread.record->tid);
    if (!cpu_ns) return;  // the thread has ended
    IdleAccount& account = sampled->idle[trigger];
    const int64_t recorded = ptm::ReadTsc() - static_cast<int64_t>(thread.record->start_ticks);
    const int64_t due =
        account.Add(tick, static_cast<uint64_t>(*cpu_ns),
                    static_cast<int64_t>(static_cast<double>(recorded) * ns_per_tick));
    if (!rotation_.Next() || due == 0) return;
    account.Subtract(tick, due);
    sampled->requested[trigger] += static_cast<uint32_t>(due);
    RequestSample(thread.record->tid);
    rotation_.Signalled();
  });
  rotation_.EndTick();
}

}  // namespace jprof::agent
