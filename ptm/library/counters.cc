#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ptm/event_group.h"
#include "ptm/library/jprof_counters.h"
#include "ptm/machine.h"
#include "ptm/names/event_name.h"
#include "ptm/virtual_clock.h"

namespace {

using namespace jprof;

thread_local std::string last_error;

// A metric is an event of the group (its index) or one of these.
constexpr int kTime = -1;
constexpr int kDispatches = -2;

struct TimeAndDispatches {
  ptm::VirtualClock clock;
  int64_t last = 0;   // the TSC value up to which time is counted
  int64_t ticks = 0;  // on CPU
  int64_t dispatches = 0;

  void Take() {
    const int64_t now = ptm::ReadTsc();
    if (!clock.Dispatched()) [[likely]] {
      ticks += now - last;
      last = now;
      return;
    }
    const ptm::VirtualClock::Redispatched back = clock.Redispatch(last);
    if (back.elapsed > 0) ticks += back.elapsed;
    last = back.now;
    dispatches += back.dispatches;
  }
};

}  // namespace

struct jprof_counters {
  std::vector<int> metrics;  // kTime, kDispatches, or the index in `events`
  std::vector<ptm::EventSpec> events;
  double ticks_per_ns = 1;
};

struct jprof_thread_counters {
  int size = 0;
  int metrics[JPROF_MAX_METRICS] = {};
  double ns_per_tick = 1;
  TimeAndDispatches time;
  ptm::EventGroup group;

  int64_t Value(int metric) {
    if (metric >= 0) [[likely]]
      return ptm::Read(group.slot(metric));
    time.Take();
    return metric == kTime ? static_cast<int64_t>(static_cast<double>(time.ticks) * ns_per_tick)
                           : time.dispatches;
  }
};

namespace {

jprof_counters* Init(const char* const* names, int count) {
  if (count < 1 || count > JPROF_MAX_METRICS) {
    last_error = fmt::format("{} metrics; 1 to {}", count, JPROF_MAX_METRICS);
    return nullptr;
  }
  const std::vector<std::string> requested(names, names + count);
  const auto checked = ptm::CheckMetrics(requested);
  if (!checked) {
    last_error = checked.error().message;
    return nullptr;
  }
  auto set = std::make_unique<jprof_counters>();
  for (const ptm::CheckedMetric& metric : checked->metrics) {
    if (!metric.event) {
      set->metrics.push_back(metric.name == "time" ? kTime : kDispatches);
      continue;
    }
    set->metrics.push_back(static_cast<int>(set->events.size()));
    set->events.push_back(*metric.event);
  }
  set->ticks_per_ns = ptm::MeasureTicksPerSecond(20) / 1e9;
  return set.release();
}

jprof_thread_counters* Start(const jprof_counters& set) {
  auto thread = std::make_unique<jprof_thread_counters>();
  for (const int metric : set.metrics) thread->metrics[thread->size++] = metric;
  const ptm::OpenFailure failure = thread->group.Open(set.events);
  if (failure.Failed()) {
    const auto& event = set.events[static_cast<size_t>(failure.event) % set.events.size()];
    last_error = fmt::format("metric '{}' cannot be counted: {}", event.name,
                             ptm::Explain(event, failure.error, ptm::ReadMachine()));
    return nullptr;
  }
  thread->ns_per_tick = 1 / set.ticks_per_ns;
  thread->time.clock.Open(set.ticks_per_ns);  // wall clock and by_call 1 if refused
  thread->time.last = thread->time.clock.Restart();
  return thread.release();
}

}  // namespace

extern "C" {

[[gnu::visibility("default")]] int jprof_counters_init(jprof_counters** set,
                                                       const char* const* names, int count) try {
  last_error.clear();
  *set = Init(names, count);
  return *set != nullptr ? 0 : -1;
} catch (...) {
  *set = nullptr;
  return -1;
}

[[gnu::visibility("default")]] const char* jprof_counters_error(void) { return last_error.c_str(); }

[[gnu::visibility("default")]] jprof_thread_counters* jprof_thread_start(
    const jprof_counters* set) try {
  last_error.clear();
  return Start(*set);
} catch (...) {
  return nullptr;
}

[[gnu::visibility("default")]] int64_t jprof_read_one(jprof_thread_counters* thread) {
  return thread->Value(thread->metrics[0]);
}

[[gnu::visibility("default")]] void jprof_read_two(jprof_thread_counters* thread,
                                                   int64_t values[2]) {
  values[0] = thread->Value(thread->metrics[0]);
  values[1] = thread->size > 1 ? thread->Value(thread->metrics[1]) : 0;
}

[[gnu::visibility("default")]] void jprof_read_all(jprof_thread_counters* thread, int64_t* values) {
  int64_t events[JPROF_MAX_METRICS];
  thread->group.ReadAll(events);
  for (int i = 0; i < thread->size; ++i) {
    const int metric = thread->metrics[i];
    values[i] = metric >= 0 ? events[metric] : thread->Value(metric);
  }
}

[[gnu::visibility("default")]] int jprof_status(jprof_thread_counters* thread, int metric,
                                                jprof_metric_status* status) {
  if (metric < 0 || metric >= thread->size) return -1;
  const int event = thread->metrics[metric];
  *status = {1, 0, !thread->time.clock.virtualised(), 0};
  if (event < 0) return 0;
  const ptm::EventGroup::EventStatus of_event = thread->group.Status(event);
  *status = {of_event.running, of_event.user_only, of_event.by_call, of_event.failed_reads};
  return 0;
}

[[gnu::visibility("default")]] void jprof_thread_stop(jprof_thread_counters* thread) {
  delete thread;
}

[[gnu::visibility("default")]] void jprof_counters_terminate(jprof_counters* set) { delete set; }

}  // extern "C"
