#include "model/events/critical_path.h"

#include <algorithm>

namespace jprof::model {
namespace {

class Walker {
 public:
  Walker(const Stretches& stretches, uint64_t from) : stretches_(stretches), from_(from) {}

  std::vector<PathPiece> Walk(uint32_t thread, uint64_t to) {
    uint64_t at = to;
    // Each step goes back in time or to the thread that waited, or ends the walk.
    while (at > from_) {
      if (!HadRun(thread, at)) {
        if (waiters_.empty()) break;
        thread = waiters_.back().thread;
        waiters_.pop_back();
        continue;
      }
      const StretchThread& of = stretches_.threads[thread];
      const size_t next = FirstAtOrAfter(of, at), last = next - 1;
      const Stretch& stretch = stretches_.stretches[last];
      if (stretch.end < at) {  // it waited
        const bool runs_again = next < of.first + of.count;
        const Stretch* after = runs_again ? &stretches_.stretches[next] : nullptr;
        const auto [waker, time] = LeaveWait(thread, last, after, at);
        at = time;
        thread = waker;
        continue;
      }
      Add(PathPiece::Kind::kRuns, stretch.begin, at, thread, last);
      at = std::max(stretch.begin, from_);
      if (at <= from_) break;
      if (last == of.first) {  // the thread that made it was the cause until then
        if (stretch.ready < at) Add(PathPiece::Kind::kReady, stretch.ready, at, thread, last);
        at = std::min(at, stretch.ready);
        thread = stretch.waker;
        continue;
      }
      const auto [waker, time] = LeaveWait(thread, last - 1, &stretch, at);
      at = time;
      thread = waker;
    }
    std::ranges::reverse(pieces_);
    return std::move(pieces_);
  }

 private:
  // Returns the index of the thread's first stretch that begins at this time or later.
  size_t FirstAtOrAfter(const StretchThread& thread, uint64_t time) const {
    const auto begin = stretches_.stretches.begin() + static_cast<ptrdiff_t>(thread.first);
    const auto found = std::lower_bound(
        begin, begin + static_cast<ptrdiff_t>(thread.count), time,
        [](const Stretch& stretch, uint64_t limit) { return stretch.begin < limit; });
    return static_cast<size_t>(found - stretches_.stretches.begin());
  }

  bool HadRun(uint32_t thread, uint64_t before) const {
    if (thread >= stretches_.threads.size()) return false;
    const StretchThread& of = stretches_.threads[thread];
    return FirstAtOrAfter(of, before) > of.first;
  }

  void Add(PathPiece::Kind kind, uint64_t begin, uint64_t end, uint32_t thread, size_t stretch) {
    begin = std::max(begin, from_);
    if (end > begin) pieces_.push_back({kind, begin, end, thread, stretch});
  }

  // Explains the time before `at`, back to the end of the stretch `before`. Returns where the walk
  // goes on: the thread and the time.
  std::pair<uint32_t, uint64_t> LeaveWait(uint32_t thread, size_t before, const Stretch* after,
                                          uint64_t at) {
    const uint64_t stopped = std::min(stretches_.stretches[before].end, at);
    const uint64_t ready = after != nullptr ? std::clamp(after->ready, stopped, at) : at;
    Add(PathPiece::Kind::kReady, ready, at, thread, before);
    const bool preempted = stretches_.stretches[before].state == StopState::kRunnable;
    if (after != nullptr && !preempted && after->waker < stretches_.threads.size() &&
        after->waker != thread && ready > from_ && ready < last_) {
      waiters_.push_back({thread, stopped});
      return {after->waker, last_ = ready};
    }
    if (waiters_.empty()) {
      Add(PathPiece::Kind::kWaits, stopped, ready, thread, before);
      return {thread, stopped};
    }
    // The thread was idle. That is the cause only while another one waited for it; before that the
    // cause is what the other one did.
    const Waiter waiter = waiters_.back();
    Add(PathPiece::Kind::kWaits, std::max(stopped, waiter.stopped), ready, thread, before);
    if (stopped >= waiter.stopped) return {thread, stopped};
    waiters_.pop_back();
    return {waiter.thread, std::min(ready, waiter.stopped)};
  }

  // A thread that waited for the one that the walk is at, and when it stopped for that.
  struct Waiter {
    uint32_t thread = 0;
    uint64_t stopped = 0;
  };

  const Stretches& stretches_;
  uint64_t from_;
  std::vector<Waiter> waiters_;
  uint64_t last_ = UINT64_MAX;  // of the last change of threads, so that none repeats
  std::vector<PathPiece> pieces_;
};

}  // namespace

std::vector<PathPiece> CriticalPath(const Stretches& stretches, uint32_t thread, uint64_t from,
                                    uint64_t to) {
  return Walker(stretches, from).Walk(thread, to);
}

}  // namespace jprof::model
