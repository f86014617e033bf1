#include "record/count/cpi_counting.h"

#include <poll.h>

#include <cerrno>
#include <chrono>
#include <memory>
#include <utility>

#include "common/procfs.h"
#include "ptm/cpu_sampler.h"
#include "ptm/event_group.h"
#include "record/count/group_counting.h"
#include "record/run/interruption.h"
#include "record/run/launcher.h"
#include "record/run/no_process.h"
#include "record/run/print_error.h"

namespace jprof::record {
namespace {

using Groups = std::vector<std::unique_ptr<ptm::EventGroup>>;

Result<void> Add(Groups& groups, const CpiEvents& events, const ptm::Target& target) {
  auto group = std::make_unique<ptm::EventGroup>();
  const auto opened = OpenGroup(*group, events, target);
  if (!opened) return std::unexpected(opened.error());
  if (*opened) groups.push_back(std::move(group));
  return {};
}

// Returns the CPUs of the machine, or the threads of a process, which count their descendants.
std::vector<ptm::Target> TargetsOf(uint32_t pid) {
  std::vector<ptm::Target> targets;
  if (pid == 0) {
    for (const int cpu : ptm::OnlineCpus()) targets.push_back({.tid = -1, .cpu = cpu});
    return targets;
  }
  for (const uint32_t tid : procfs::Threads(pid))
    targets.push_back({.tid = static_cast<int>(tid), .inherit = true});
  return targets;
}

Result<Groups> OpenGroups(const CpiEvents& events, uint32_t pid) {
  Groups groups;
  const std::vector<ptm::Target> targets = TargetsOf(pid);
  if (targets.empty()) return NoProcess(pid, errno);
  for (const ptm::Target& target : targets) {
    if (auto added = Add(groups, events, target); !added) return std::unexpected(added.error());
  }
  if (groups.empty()) return NoProcess(pid, ESRCH);  // all threads have ended
  return groups;
}

// Contains instructions and cycles of each group.
using Readings = std::vector<std::optional<ptm::CounterReading>>;

Readings Read(const Groups& groups) {
  Readings readings;
  for (const auto& group : groups) {
    for (int event = 0; event < 2; ++event) readings.push_back(group->Reading(event));
  }
  return readings;
}

// Returns the sum over all groups of one of the two events.
std::optional<double> Sum(const Readings& before, const Readings& now, size_t event) {
  double sum = 0;
  for (size_t i = event; i < now.size(); i += 2) {
    if (!before[i] || !now[i]) return std::nullopt;
    const auto count = ptm::ExactCount(*before[i], *now[i]);
    if (!count) return std::nullopt;
    sum += static_cast<double>(*count);
  }
  return sum;
}

CpiFigures Between(const Readings& before, const Readings& now, double seconds) {
  const CpiFigures figures = {seconds, Sum(before, now, 0), Sum(before, now, 1)};
  if (!figures.instructions) PrintError(NotCountedText("PAPI_TOT_INS"));
  if (!figures.cycles) PrintError(NotCountedText("PAPI_TOT_CYC"));
  return figures;
}

class Stopwatch {
 public:
  double Lap() {
    const auto now = std::chrono::steady_clock::now();
    const std::chrono::duration<double> lap = now - start_;
    start_ = now;
    return lap.count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

Result<int> CountCpiOfCommand(const CpiEvents& events, const Launch& launch,
                              const PrintFigures& print) {
  Groups groups;
  if (auto added = Add(groups, events, {.inherit = true, .on_exec = true}); !added)
    return std::unexpected(added.error());
  const Readings before = Read(groups);
  Stopwatch watch;
  const auto ended = Run(launch);
  if (!ended) return std::unexpected(ended.error());
  print(Between(before, Read(groups), watch.Lap()));
  return ended->ExitCode();
}

Result<int> CountCpiOfIntervals(const CpiEvents& events, uint32_t pid, double interval,
                                uint64_t count, const PrintFigures& print) {
  auto groups = OpenGroups(events, pid);
  if (!groups) return std::unexpected(groups.error());
  const Interruption guard;
  Stopwatch watch;
  Readings before = Read(*groups);
  for (uint64_t i = 0; i < count && Interruption::Number() == 0; ++i) {
    poll(nullptr, 0, static_cast<int>(interval * 1e3));
    Readings now = Read(*groups);
    print(Between(before, now, watch.Lap()));
    before = std::move(now);
  }
  return 0;
}

}  // namespace jprof::record
