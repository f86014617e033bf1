#include "jprof/agent/sampling/sampling_schedule.h"

#include <algorithm>

namespace jprof::agent {
namespace {

constexpr uint64_t kSecond = 1'000'000'000, kNever = ~uint64_t{0};
constexpr uint64_t kTickNs = 10'000'000;
constexpr uint64_t kRefreshNs = 200'000'000;

}  // namespace

SamplingSchedule::SamplingSchedule(const options::AgentOptions& options, uint64_t now_ns)
    : start_ns_(options.start && options.delay != 0 ? now_ns + options.delay * kSecond : kNever),
      stop_ns_(kNever),
      duration_ns_(options.duration * kSecond),
      refreshed_ns_(now_ns),
      look_ns_(now_ns + kSecond) {
  for (size_t i = 0; i < options.triggers.size(); ++i) {
    const options::Trigger& trigger = options.triggers[i];
    if (trigger.kind != options::TriggerKind::kIdle && trigger.kind != options::TriggerKind::kWall)
      continue;
    triggers_.push_back(
        {i, trigger.kind == options::TriggerKind::kWall, trigger.every * 1'000'000, now_ns});
  }
}

uint64_t SamplingSchedule::NextWake(uint64_t now_ns) const {
  uint64_t next = now_ns + kTickNs;
  for (const Trigger& trigger : triggers_) next = std::min(next, trigger.due_ns);
  return next;
}

bool SamplingSchedule::StartIsDue(uint64_t now_ns) {
  if (now_ns < start_ns_) return false;
  start_ns_ = kNever;
  return true;
}

bool SamplingSchedule::StopIsDue(uint64_t now_ns, bool running) {
  if (running && stop_ns_ == kNever && duration_ns_ != 0) stop_ns_ = now_ns + duration_ns_;
  if (now_ns < stop_ns_) return false;
  stop_ns_ = kNever;
  duration_ns_ = 0;
  return true;
}

uint32_t SamplingSchedule::TakeTicks(Trigger& trigger, uint64_t now_ns) const {
  if (now_ns < trigger.due_ns) return 0;
  const uint64_t ticks = (now_ns - trigger.due_ns) / trigger.period_ns + 1;
  trigger.due_ns += ticks * trigger.period_ns;
  return static_cast<uint32_t>(ticks);
}

bool SamplingSchedule::LookIsDue(uint64_t now_ns) {
  if (now_ns < look_ns_) return false;
  look_ns_ = now_ns + kSecond;
  return true;
}

bool SamplingSchedule::RefreshIsDue(uint64_t now_ns) const {
  return now_ns >= refreshed_ns_ + kRefreshNs;
}

}  // namespace jprof::agent
