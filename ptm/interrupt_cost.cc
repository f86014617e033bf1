#include "ptm/interrupt_cost.h"

#include <signal.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "common/errno_text.h"
#include "ptm/cpu_sampler.h"
#include "ptm/sampling_rate.h"
#include "ptm/thread_timer.h"
#include "ptm/tsc.h"
#include "ptm/virtual_clock.h"

namespace jprof::ptm {
namespace {

constexpr uint64_t kPeriodNs = 2'000'000;
constexpr size_t kFewestExpirations = 20;

ThreadTimer* measured = nullptr;
volatile uint32_t expirations = 0;

void OnExpiration(int, siginfo_t* info, void*) {
  if (measured->Take(*info) != 0) expirations = expirations + 1;
}

int64_t Median(std::vector<int64_t> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

struct Readings {
  std::vector<int64_t> late;  // with an expiration in between
  int64_t plain = 0;
};

// Reads the clock repeatedly. An expiration falls between two readings, or just next to a reading:
// then it is in the previous interval. A busy machine needs more time for enough of them, up to
// four times as much.
Readings Spin(int64_t ticks) {
  Readings readings;
  std::array<int64_t, 1024> some = {};
  size_t count = 0;
  uint32_t seen = expirations;
  int64_t last = ReadTsc(), before = 0;
  const int64_t end = last + ticks, latest = end + 3 * ticks;
  while (last < end || (last < latest && readings.late.size() < kFewestExpirations)) {
    const uint32_t now_seen = expirations;
    const int64_t now = ReadTsc(), distance = now - last;
    if (now_seen != seen) {
      readings.late.push_back(std::max(distance, before));
      seen = now_seen;
    } else {
      some[count++ % some.size()] = distance;
    }
    before = distance;
    last = now;
  }
  readings.plain = Median({some.begin(), some.begin() + std::min(count, some.size())});
  return readings;
}

}  // namespace

Result<uint64_t> InterruptNanos(std::span<const int64_t> ticks, int64_t plain,
                                double ticks_per_ns) {
  if (ticks.size() < kFewestExpirations)
    return Fail("the timer expired only {} times", ticks.size());
  const int64_t late = Median({ticks.begin(), ticks.end()});
  const double ns = static_cast<double>(late - plain) / ticks_per_ns;
  if (!(ns >= kLeastInterruptNs && ns <= kMostInterruptNs))
    return Fail("{:.1f} us is not plausible", ns / 1000);
  return static_cast<uint64_t>(std::lround(ns));
}

Result<uint64_t> MeasureInterruptNanos(int milliseconds) {
  const double ticks_per_ns = MeasureTicksPerSecond(20) / 1e9;
  struct sigaction action = {}, before = {};
  action.sa_sigaction = OnExpiration;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  ThreadTimer sampler;
  const int error = sampler.Open({CpuClock(), kPeriodNs, SIGPROF}, 1);
  if (error != 0) return Fail("no timer: {}", ErrnoText(error));
  measured = &sampler;
  sigaction(SIGPROF, &action, &before);
  sampler.Start();
  const Readings readings = Spin(static_cast<int64_t>(milliseconds * 1e6 * ticks_per_ns));
  sampler.Stop();
  sampler.Close();
  // A signal that is still on its way is delivered, and ignored, before its handler goes.
  action.sa_flags = 0;
  action.sa_handler = SIG_IGN;
  sigaction(SIGPROF, &action, nullptr);
  sigaction(SIGPROF, &before, nullptr);
  return InterruptNanos(readings.late, readings.plain, ticks_per_ns);
}

}  // namespace jprof::ptm
