#include "record/run/await_end.h"

#include <poll.h>

#include <algorithm>

#include "common/monotonic.h"
#include "record/run/interruption.h"

namespace jprof::record {
namespace {

constexpr int64_t kNanos = 1'000'000'000;
constexpr int kLongestPause = 200;  // ms, in which a signal may be missed

}  // namespace

void AwaitEnd(int process, uint64_t seconds, const std::function<void()>& look) {
  const int64_t end = MonotonicNanos() + static_cast<int64_t>(seconds) * kNanos;
  pollfd ended = {process, POLLIN, 0};
  while (Interruption::Number() == 0 && ended.revents == 0) {
    if (look) look();
    const int64_t left = seconds == 0 ? kNanos : end - MonotonicNanos();
    if (left <= 0) return;
    poll(&ended, 1, static_cast<int>(std::min<int64_t>(left / 1'000'000 + 1, kLongestPause)));
  }
}

}  // namespace jprof::record
