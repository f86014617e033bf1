#include "ptm/virtual_clock.h"

#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <limits>

namespace jprof::ptm {
namespace {

std::optional<int64_t> NanosOrNothing(clockid_t clock) {
  timespec t = {};
  if (clock_gettime(clock, &t) != 0) return std::nullopt;
  return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

// Reads a clock that always exists.
int64_t Nanos(clockid_t clock) { return NanosOrNothing(clock).value_or(0); }

int OpenTaskClock(bool exclude_kernel) {
  perf_event_attr attr = {};
  attr.size = sizeof attr;
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_TASK_CLOCK;
  attr.exclude_kernel = exclude_kernel;
  attr.exclude_hv = exclude_kernel;
  return static_cast<int>(syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

// A system call that reads a clock takes 0.1 to 2 us. One that takes this long was interrupted.
constexpr double kInterruptedNanos = 20'000;

// Contains two simultaneous clock readings, which are the closest of a few tries.
struct Pair {
  int64_t tsc;
  int64_t nanos;
  int64_t ticks;  // that reading both took
};
Pair ReadTogether(clockid_t clock, int tries) {
  Pair best = {0, 0, std::numeric_limits<int64_t>::max()};
  for (int i = 0; i < tries; ++i) {
    const int64_t before = ReadTsc();
    const int64_t nanos = Nanos(clock);
    const int64_t after = ReadTsc();
    if (after - before < best.ticks) best = {before + (after - before) / 2, nanos, after - before};
  }
  return best;
}

}  // namespace

const uint32_t VirtualClock::kNeverMoves = 0;

bool VirtualClock::Open(double ticks_per_ns) {
  ticks_per_ns_ = ticks_per_ns;
  int fd = OpenTaskClock(false);
  if (fd < 0 && (errno == EACCES || errno == EPERM)) fd = OpenTaskClock(true);
  if (fd < 0) return false;
  void* page = mmap(nullptr, sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, fd, 0);
  const int error = errno;
  close(fd);  // the mapping keeps the event
  if (page == MAP_FAILED) {
    errno = error;
    return false;
  }
  page_ = page;
  lock_ = &static_cast<const perf_event_mmap_page*>(page)->lock;
  Anchor();
  return true;
}

void VirtualClock::Close() {
  if (page_ != nullptr) munmap(page_, sysconf(_SC_PAGESIZE));
  page_ = nullptr;
  lock_ = &kNeverMoves;
  seen_ = 0;
}

int64_t VirtualClock::Anchor() {
  Pair pair;
  int64_t now;
  uint32_t lock;
  // If the thread is scheduled anew between two readings, or an interrupt or the hypervisor stops
  // it there, they do not belong together. Under a debugger that happens at each system call.
  const auto interrupted = static_cast<int64_t>(kInterruptedNanos * ticks_per_ns_);
  int tries = 16;
  do {
    lock = __atomic_load_n(lock_, __ATOMIC_RELAXED);
    now = ReadTsc();
    pair = ReadTogether(CLOCK_THREAD_CPUTIME_ID, 1);
  } while ((__atomic_load_n(lock_, __ATOMIC_RELAXED) != lock || pair.ticks > interrupted) &&
           --tries > 0);
  anchor_tsc_ = pair.tsc;
  anchor_cpu_ns_ = pair.nanos;
  seen_ = lock;
  return now;
}

int64_t VirtualClock::Restart() { return page_ != nullptr ? Anchor() : ReadTsc(); }

VirtualClock::Redispatched VirtualClock::Redispatch(int64_t last) {
  const uint32_t seen = seen_;
  const int64_t before_last = last - anchor_tsc_;
  const int64_t cpu_ns = anchor_cpu_ns_;
  const int64_t now = Anchor();
  const double on_cpu = static_cast<double>(anchor_cpu_ns_ - cpu_ns) * ticks_per_ns_;
  const int64_t after_now = anchor_tsc_ - now;
  return {now, std::llround(on_cpu) - before_last - after_now, (seen_ - seen) / 2};
}

int64_t VirtualClock::CpuNanos() { return Nanos(CLOCK_THREAD_CPUTIME_ID); }

std::optional<int64_t> VirtualClock::CpuNanosOf(uint32_t tid) {
  return NanosOrNothing(
      static_cast<clockid_t>((~tid << 3) | 6));  // CPUCLOCK_PERTHREAD | CPUCLOCK_SCHED
}

double MeasureTicksPerSecond(int milliseconds) {
  const Pair begin = ReadTogether(CLOCK_MONOTONIC_RAW, 20);
  timespec pause = {0, milliseconds * 1'000'000L};
  nanosleep(&pause, nullptr);
  const Pair end = ReadTogether(CLOCK_MONOTONIC_RAW, 20);
  return static_cast<double>(end.tsc - begin.tsc) * 1e9 /
         static_cast<double>(end.nanos - begin.nanos);
}

double MeasureReadTicks() {
  // The minimum of several short runs, to exclude interrupts.
  constexpr int kReads = 200;
  double best = std::numeric_limits<double>::max();
  for (int run = 0; run < 50; ++run) {
    const int64_t begin = ReadTsc();
    for (int i = 0; i < kReads - 1; ++i) (void)ReadTsc();
    best = std::min(best, static_cast<double>(ReadTsc() - begin) / kReads);
  }
  return best;
}

double MeasureTimerOverhead() {
  constexpr int kPairs = 100;
  double best = std::numeric_limits<double>::max();
  for (int run = 0; run < 50; ++run) {
    int64_t sum = 0;
    for (int i = 0; i < kPairs; ++i) {
      const int64_t begin = TimedCodeBegin();
      sum += TimedCodeEnd() - begin;
    }
    best = std::min(best, static_cast<double>(sum) / kPairs);
  }
  return best;
}

int64_t MeasureGranularity() {
  // The median of the observed steps: a coarse TSC stays constant, then jumps, occasionally by
  // less.
  constexpr int kSteps = 501;
  int64_t steps[kSteps];
  int64_t previous = ReadTsc();
  for (int found = 0; found < kSteps;) {
    const int64_t now = ReadTsc();
    if (now != previous) steps[found++] = now - previous;
    previous = now;
  }
  std::nth_element(steps, steps + kSteps / 2, steps + kSteps);
  return steps[kSteps / 2];
}

}  // namespace jprof::ptm
