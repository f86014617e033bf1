#include "ptm/capabilities.h"

#include <sys/resource.h>
#include <time.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "ptm/event_group.h"
#include "ptm/virtual_clock.h"

namespace jprof::ptm {
namespace {

const EventSpec kInstructions{"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 0, 0,
                              kExcludeKernel};
const EventSpec kCycles{"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0,
                        0,        kExcludeKernel};
const EventSpec kPageFaults{"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 0, 0, 0};
const EventSpec kUserPageFaults{"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 0, 0,
                                kExcludeKernel};

Capability VirtualTime(const Machine& machine) {
  Capability time{.name = "time",
                  .detail = "on-CPU time of each thread from the time stamp counter"};
  const double ticks_per_second = MeasureTicksPerSecond(50);
  time.figures = {{"ticks_per_second", ticks_per_second},
                  {"read_ns", MeasureReadTicks() / ticks_per_second * 1e9},
                  {"granularity_ticks", static_cast<double>(MeasureGranularity())}};
  VirtualClock clock;
  errno = 0;
  if (!clock.Open(ticks_per_second / 1e9)) {
    time.lack =
        "times are wall clock, waiting included: " + Explain(kUserPageFaults, errno, machine);
    return time;
  }
  time.available = machine.invariant_tsc;
  if (!machine.invariant_tsc) {
    time.lack =
        "the time stamp counter is not invariant (constant_tsc, nonstop_tsc): times follow the "
        "CPU's frequency";
  }
  return time;
}

int64_t ContextSwitches() {
  rusage usage = {};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nvcsw + usage.ru_nivcsw;
}

struct Dispatches {
  int64_t by_lock;
  int64_t by_kernel;
};

// Reads both counts at one moment. Repeats if a dispatch came between the two.
Dispatches CountDispatches(const VirtualClock& clock) {
  const auto by_lock = [&] {
    return static_cast<int64_t>(__atomic_load_n(clock.lock(), __ATOMIC_RELAXED) / 2);
  };
  Dispatches now{};
  do {
    now = {by_lock(), ContextSwitches()};
  } while (by_lock() != now.by_lock);
  return now;
}

Capability PageLockDispatches(const Machine& machine) {
  Capability dispatches{.name = "dispatches",
                        .detail = "how often a thread gets a CPU, counted without a system call"};
  VirtualClock clock;
  errno = 0;
  if (!clock.Open(1)) {
    dispatches.lack = Explain(kUserPageFaults, errno, machine);
    return dispatches;
  }
  const Dispatches before = CountDispatches(clock);
  const timespec nap = {0, 200'000};
  for (int i = 0; i < 20; ++i) nanosleep(&nap, nullptr);
  const Dispatches after = CountDispatches(clock);
  const int64_t by_lock = after.by_lock - before.by_lock;
  const int64_t by_kernel = after.by_kernel - before.by_kernel;
  dispatches.figures = {{"by_lock", static_cast<double>(by_lock)},
                        {"by_kernel", static_cast<double>(by_kernel)}};
  dispatches.available = by_lock == by_kernel;
  if (!dispatches.available) {
    dispatches.lack = fmt::format(
        "this kernel moves the page's lock at other times too ({} steps for {} context switches): "
        "the DS column "
        "and, where there are too many, the cost of time are affected",
        by_lock, by_kernel);
  }
  return dispatches;
}

// Returns whether the event counts. Some emulated and virtual PMUs open events that they do not
// count.
bool Counts(const EventSpec& event, int& error) {
  EventGroup group;
  error = group.Open({&event, 1}).error;
  if (error != 0) return false;
  const int64_t before = ReadByCall(group.slot(0));
  volatile int turns = 100'000;
  while (turns > 0) turns = turns - 1;
  return ReadByCall(group.slot(0)) > before;
}

std::string NotCounted(const EventSpec& event, int error, const Machine& machine) {
  return error != 0 ? Explain(event, error, machine) : "this PMU accepts them but counts 0";
}

Capability HardwareCounters(const Machine& machine) {
  Capability hardware{.name = "hardware", .detail = "instructions, cycles, misses"};
  if (!machine.pmu.empty()) hardware.detail += fmt::format(" (PMU: {})", machine.pmu);
  int no_instructions = 0;
  int no_cycles = 0;
  const bool instructions = Counts(kInstructions, no_instructions);
  const bool cycles = Counts(kCycles, no_cycles);
  hardware.available = instructions || cycles;
  if (!instructions && !cycles) {
    hardware.lack = NotCounted(kInstructions, no_instructions, machine);
  } else if (!instructions) {
    hardware.lack =
        "cycles work, instructions do not: " + NotCounted(kInstructions, no_instructions, machine);
  } else if (!cycles) {
    hardware.lack = "instructions work, cycles do not: " + NotCounted(kCycles, no_cycles, machine);
  }
  return hardware;
}

std::string WhyNoUserRead(const Machine& machine) {
#if defined(__aarch64__)
  return fmt::format("kernel.perf_user_access is {}: run `sudo sysctl kernel.perf_user_access=1`",
                     machine.user_access.value_or(0));
#else
  return fmt::format(
      "/sys/bus/event_source/devices/{}/rdpmc is {}: write "
      "1 to it; until then each read is a system call",
      machine.pmu, machine.user_access.value_or(0));
#endif
}

Capability UserSpaceRead(const Machine& machine) {
  Capability read{.name = "user-read",
                  .detail = "programs read hardware counters without a system call"};
  EventGroup group;
  if (group.Open({&kInstructions, 1}).Failed() && group.Open({&kCycles, 1}).Failed()) {
    read.lack = "needs hardware counters";
    return read;
  }
  CounterReading reading;
  const EventSlot& slot = group.slot(0);
  read.available = slot.page != nullptr && ReadPage(*slot.page, reading);
  if (!read.available) read.lack = WhyNoUserRead(machine);
  return read;
}

Capability SoftwareEvents(const Machine& machine) {
  Capability software{
      .name = "software",
      .detail = "page faults, context switches, migrations; one system call a read"};
  EventGroup group;
  const OpenFailure failure = group.Open({&kPageFaults, 1});
  if (failure.Failed()) {
    software.lack = Explain(kPageFaults, failure.error, machine);
    return software;
  }
  software.available = true;
  if (group.slot(0).user_only)
    software.lack = "user mode only: " + Explain(kPageFaults, EACCES, machine);
  const int64_t start = ReadTsc();
  constexpr int kReads = 1000;
  for (int i = 0; i < kReads; ++i) Read(group.slot(0));
  const double ticks = static_cast<double>(ReadTsc() - start) / kReads;
  software.figures = {{"read_ns", ticks / MeasureTicksPerSecond(20) * 1e9}};
  return software;
}

}  // namespace

std::vector<Capability> FindCapabilities(const Machine& machine) {
  return {VirtualTime(machine), PageLockDispatches(machine), HardwareCounters(machine),
          UserSpaceRead(machine), SoftwareEvents(machine)};
}

}  // namespace jprof::ptm
