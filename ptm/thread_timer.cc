#include "ptm/thread_timer.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "common/kept_fd.h"
#include "common/random.h"
#include "ptm/machine.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

namespace jprof::ptm {
namespace {

constexpr size_t kPage = 4096;
constexpr uint64_t kShortestFirstNs = 100'000;

bool IsCpuClock(const EventSpec& event) {
  return event.type == PERF_TYPE_SOFTWARE && event.config == PERF_COUNT_SW_CPU_CLOCK;
}

pid_t ThreadId() { return static_cast<pid_t>(syscall(SYS_gettid)); }

// Copies bytes of the ring from `at` on, which may wrap.
void Copy(const char* data, uint64_t at, void* out, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) static_cast<char*>(out)[i] = data[(at + i) % kPage];
}

}  // namespace

FirstPeriod FirstPeriodOf(uint64_t period, uint64_t shortest, uint64_t random) {
  const uint64_t least = std::max(period / 2, shortest);
  const uint64_t length = 1 + random % period;
  const uint64_t more = length < least ? (least - length + period - 1) / period : 0;
  return {length + more * period, 1 + more};
}

Result<void> CheckThreadTimer(const ThreadTimerSettings& what) {
  ThreadTimer sampler;
  const int error = sampler.Open(what, 1);
  if (error == 0) return {};
  return WrongUse("{}", Explain(what.event, error, ReadMachine()));
}

int ThreadTimer::Open(const ThreadTimerSettings& what, uint64_t random, uint32_t tid) {
  Close();
  thread_ = tid != 0 ? static_cast<pid_t>(tid) : ThreadId();
  const bool clock = IsCpuClock(what.event), time = CountsTime(what.event);
  if (what.period == 0 || (time && what.period < kShortestClockPeriod)) return EINVAL;
  period_ = what.period;
  shortest_ = time ? kShortestFirstNs : 1;
  random_ = random | 1;
  limited_by_ = 0;
  if (clock && what.source == TimerSource::kPosix) return OpenTimer(what);
  const uint64_t first = FirstPeriodOf(period_, shortest_, NextRandom(random_)).length;
  int error = OpenEvent(what, first, false);
  if (error == 0) {
    if (what.kernel) MapRing();
    return 0;
  }
  if (clock && what.source == TimerSource::kAny) {
    limited_by_ = error;
    return OpenTimer(what);
  }
  if (clock) return error;
  if (error == EACCES || error == EPERM) error = OpenEvent(what, first, true);
  return error;
}

int ThreadTimer::OpenEvent(const ThreadTimerSettings& what, uint64_t first, bool user_only) {
  perf_event_attr attr = {};
  attr.size = sizeof attr;
  attr.type = what.event.type;
  attr.config = what.event.config;
  attr.config1 = what.event.config1;
  attr.config2 = what.event.config2;
  attr.sample_period = first;
  attr.sample_type = PERF_SAMPLE_CALLCHAIN;
  attr.exclude_callchain_user = 1;
  attr.exclude_user = (what.event.exclude & kExcludeUser) != 0;
  attr.exclude_kernel = user_only || (what.event.exclude & kExcludeKernel) != 0;
  attr.exclude_hv = user_only || (what.event.exclude & kExcludeHypervisor) != 0;
  attr.disabled = 1;
  attr.wakeup_events = 1;
  fd_ =
      static_cast<int>(syscall(SYS_perf_event_open, &attr, thread_, -1, -1, PERF_FLAG_FD_CLOEXEC));
  if (fd_ < 0) return errno;
  fd_ = MoveUp(fd_);  // before F_SETFL: signals carry that number
  id_ = EventId(fd_);
  const f_owner_ex owner = {F_OWNER_TID, thread_};
  if (fcntl(fd_, F_SETOWN_EX, &owner) != 0 || fcntl(fd_, F_SETSIG, what.signal) != 0 ||
      fcntl(fd_, F_SETFL, O_ASYNC | O_NONBLOCK) != 0) {
    const int error = errno;
    close(fd_);
    fd_ = -1;
    return error;
  }
  return 0;
}

int ThreadTimer::OpenTimer(const ThreadTimerSettings& what) {
  sigevent event = {};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = what.signal;
  event.sigev_value.sival_ptr = this;
  event.sigev_notify_thread_id = thread_;
  const auto clock = static_cast<clockid_t>((~static_cast<uint32_t>(thread_) << 3) |
                                            6);  // CPU time of that thread
  if (timer_create(clock, &event, &timer_) != 0) return errno;
  has_timer_ = true;
  return 0;
}

// Maps the ring. Without it, samples have no kernel frames. This is no error, because locked memory
// is limited.
void ThreadTimer::MapRing() {
  ring_ = mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
  if (ring_ != MAP_FAILED) return;
  limited_by_ = errno;
  ring_ = nullptr;
}

void ThreadTimer::Start() {
  const bool by_event = IsOpen();
  if (!by_event && !has_timer_) return;
  const FirstPeriod first = FirstPeriodOf(period_, shortest_, NextRandom(random_));
  first_periods_ = first.periods;
  if (by_event) {
    uint64_t length = first.length;
    ioctl(fd_, PERF_EVENT_IOC_PERIOD, &length);  // also discards the remainder of the last period
    ioctl(fd_, PERF_EVENT_IOC_ENABLE, 0);
  } else {
    const auto spec = [](uint64_t ns) {
      return timespec{static_cast<time_t>(ns / 1'000'000'000),
                      static_cast<long>(ns % 1'000'000'000)};
    };
    const itimerspec times = {spec(period_), spec(first.length)};
    timer_settime(timer_, 0, &times, nullptr);
  }
}

void ThreadTimer::Stop() {
  if (IsOpen()) ioctl(fd_, PERF_EVENT_IOC_DISABLE, 0);
  const itimerspec never = {};
  if (has_timer_) timer_settime(timer_, 0, &never, nullptr);
}

void ThreadTimer::Close() {
  if (ring_ != nullptr) munmap(ring_, 2 * kPage);
  if (IsOpen()) close(fd_);
  if (has_timer_) timer_delete(timer_);
  ring_ = nullptr;
  fd_ = -1;
  has_timer_ = false;
}

int64_t ThreadTimer::Take(const siginfo_t& signal) {
  if (has_timer_ && signal.si_code == SI_TIMER && signal.si_value.sival_ptr == this) {
    const uint64_t first = first_periods_.exchange(0, std::memory_order_relaxed);
    return (first != 0 ? static_cast<int64_t>(first) : 1) + signal.si_overrun;
  }
  if (fd_ < 0 || signal.si_fd != fd_ || signal.si_code <= 0) return 0;
  if (first_periods_.load(std::memory_order_relaxed) == 0) return 1;
  if (!IsOpen()) return 0;  // the random length of the first period remains
  ioctl(fd_, PERF_EVENT_IOC_PERIOD, &period_);
  return static_cast<int64_t>(first_periods_.exchange(0, std::memory_order_relaxed));
}

size_t ThreadTimer::KernelFrames(uint64_t* out, size_t room) {
  if (ring_ == nullptr) return 0;
  auto* page = static_cast<perf_event_mmap_page*>(ring_);
  const char* data = static_cast<const char*>(ring_) + kPage;
  const uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
  uint64_t at = page->data_tail;
  size_t count = 0;
  while (at < head) {
    perf_event_header header;
    Copy(data, at, &header, sizeof header);
    if (header.size < sizeof header || header.size > head - at) break;
    if (header.type == PERF_RECORD_SAMPLE && at + header.size >= head) {  // the newest
      uint64_t frames = 0;
      Copy(data, at + sizeof header, &frames, sizeof frames);
      const uint64_t most = (header.size - sizeof header - sizeof frames) / sizeof frames;
      for (uint64_t i = 0; i < frames && i < most && count < room; ++i) {
        uint64_t address;
        Copy(data, at + sizeof header + sizeof frames * (1 + i), &address, sizeof address);
        if (address < PERF_CONTEXT_MAX) out[count++] = address;  // higher values mark contexts
      }
    }
    at += header.size;
  }
  __atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
  return count;
}

}  // namespace jprof::ptm
