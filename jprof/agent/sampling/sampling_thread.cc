#include "jprof/agent/sampling/sampling_thread.h"

#include <time.h>

#include <cerrno>
#include <utility>

#include "common/monotonic.h"
#include "jprof/agent/sampling/sampling.h"
#include "jprof/agent/vm/background_thread.h"
#include "jprof/agent/vm/jvmti_env.h"

namespace jprof::agent {
namespace {

uint64_t NowNs() { return static_cast<uint64_t>(MonotonicNanos()); }

void SleepUntil(uint64_t ns) {
  constexpr uint64_t kSecond = 1'000'000'000;
  const timespec until = {static_cast<time_t>(ns / kSecond), static_cast<long>(ns % kSecond)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
  }
}

}  // namespace

bool SamplingThread::Begin() {
  const auto run = [](void* self) -> void* {
    static_cast<SamplingThread*>(self)->Run();
    return nullptr;
  };
  thread_ = StartBackgroundThread("jprof sampling", run, this);
  return thread_.has_value();
}

void SamplingThread::End() {
  stop_ = true;
  if (thread_) pthread_join(*std::exchange(thread_, std::nullopt), nullptr);
  if (kernel_thread_) pthread_join(*std::exchange(kernel_thread_, std::nullopt), nullptr);
}

// 1. Sleep until the next trigger is due, at most 10 ms.
// 2. Start sampling when DELAY is over, stop it when DURATION is.
// 3. Read the kernel's functions once a stack has frames of the kernel.
// 4. Read the unwind tables of newly loaded modules.
// 5. Once a second, look whether the signals still arrive.
// 6. Request samples for IDLE and WALL.
void SamplingThread::Run() {
  SamplingSchedule schedule(options_, NowNs());
  while (!stop_) {
    SleepUntil(schedule.NextWake(NowNs()));
    NoteIfNoMemory([&] { Turn(schedule, NowNs()); });
  }
}

void SamplingThread::Turn(SamplingSchedule& schedule, uint64_t now_ns) {
  if (schedule.StartIsDue(now_ns)) sampling_.Start();
  if (schedule.StopIsDue(now_ns, sampling_.running())) sampling_.Stop();
  ReadKernelFunctions();
  RefreshUnwindTables(schedule, now_ns);
  if (schedule.LookIsDue(now_ns)) sampling_.LookAround();
  RequestSamples(schedule, now_ns);
}

// Reads the functions on demand and on another thread, because parsing takes tens of milliseconds.
void SamplingThread::ReadKernelFunctions() {
  if (kernel_thread_ || !recorder_.wants_kernel_functions()) return;
  const auto read = [](void* functions) -> void* {
    NoteIfNoMemory([&] { static_cast<unwind::KernelFunctions*>(functions)->Read(); });
    return nullptr;
  };
  kernel_thread_ = StartBackgroundThread("jprof kernel", read, &recorder_.kernel_functions());
}

void SamplingThread::RefreshUnwindTables(SamplingSchedule& schedule, uint64_t now_ns) {
  if (options_.java_only || recorder_.attributes_to_current() || !schedule.RefreshIsDue(now_ns))
    return;
  if (!recorder_.unwinder().Stale()) return;
  schedule.Refreshed(now_ns);
  (void)recorder_.unwinder().Refresh();
}

void SamplingThread::RequestSamples(SamplingSchedule& schedule, uint64_t now_ns) {
  for (SamplingSchedule::Trigger& trigger : schedule.triggers()) {
    const int64_t ticks = schedule.TakeTicks(trigger, now_ns);
    if (ticks == 0 || !sampling_.running()) continue;
    const auto period_ns = static_cast<int64_t>(trigger.period_ns);
    requests_.Request(trigger.index, {.period_ns = period_ns,
                                      .passed_ns = ticks * period_ns,
                                      .counts_running = trigger.counts_running,
                                      .run = sampling_.run()});
  }
}

}  // namespace jprof::agent
