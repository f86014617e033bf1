// Schedules the work of the sampling background thread. It reads no clock: times are arguments,
// in ns of one clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "options/agent_options.h"

namespace jprof::agent {

class SamplingSchedule {
 public:
  // A trigger that the background thread serves, which is IDLE or WALL.
  struct Trigger {
    size_t index = 0;             // index among the options' triggers
    bool counts_running = false;  // true for WALL
    uint64_t period_ns = 0;
    uint64_t due_ns = 0;
  };

  SamplingSchedule(const options::AgentOptions& options, uint64_t now_ns);

  // Returns the next time to wake up: in 10 ms, or earlier if a trigger is due.
  uint64_t NextWake(uint64_t now_ns) const;

  // Returns true once, when DELAY has passed. Never does so if sampling starts without a delay
  // or by `jprof ctl`.
  bool StartIsDue(uint64_t now_ns);
  // Returns true once, DURATION after the first call in which `running` is true.
  bool StopIsDue(uint64_t now_ns, bool running);

  // Returns the number of periods of `trigger` (one of triggers()) that ended since the last call.
  uint32_t TakeTicks(Trigger& trigger, uint64_t now_ns) const;
  std::span<Trigger> triggers() { return triggers_; }

  // Returns true once a second.
  bool LookIsDue(uint64_t now_ns);

  // Returns whether to look for new modules now, which happens at most every 200 ms.
  bool RefreshIsDue(uint64_t now_ns) const;
  void Refreshed(uint64_t now_ns) { refreshed_ns_ = now_ns; }

 private:
  std::vector<Trigger> triggers_;
  uint64_t start_ns_, stop_ns_, duration_ns_, refreshed_ns_, look_ns_;
};

}  // namespace jprof::agent
