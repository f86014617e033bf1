#include "record/count/command_counting.h"

#include <sys/resource.h>

#include <chrono>
#include <functional>
#include <optional>

#include "record/count/group_counting.h"
#include "record/count/thread_counting.h"
#include "record/run/interruption.h"
#include "record/run/launcher.h"

namespace jprof::record {
namespace {

Outcome AwaitEnd(HeldProgram& program, const std::function<void()>& while_waiting) {
  for (;;) {
    program.AwaitEnd(ThreadCounting::kDrainMilliseconds);
    Interruption::PassTo(program);
    while_waiting();
    if (const auto outcome = program.Ended()) return *outcome;
  }
}

// Returns the dispatches of the children that have ended.
double DispatchesOfChildren() {
  rusage usage = {};
  getrusage(RUSAGE_CHILDREN, &usage);
  return static_cast<double>(usage.ru_nvcsw + usage.ru_nivcsw);
}

// Returns the count since the group was opened.
std::optional<double> CountOf(ptm::EventGroup& group, int event) {
  const auto reading = group.Reading(event);
  return reading ? ptm::ExactCount({}, *reading) : std::nullopt;
}

// Returns the events to open. Dispatches require none, because the kernel counts them for every
// process.
std::vector<ptm::EventSpec> EventsOf(const ptm::CheckedMetrics& metrics) {
  std::vector<ptm::EventSpec> events;
  for (const ptm::CheckedMetric& metric : metrics.metrics) {
    if (metric.name != "dispatches") events.push_back(metric.event.value_or(ptm::TaskClock()));
  }
  return events;
}

void AddSums(const ptm::CheckedMetrics& metrics, ptm::EventGroup& group, CountTable& table) {
  int event = 0;
  for (const ptm::CheckedMetric& metric : metrics.metrics) {
    if (metric.name == "dispatches") {
      table.total.counts.push_back(DispatchesOfChildren());
      continue;
    }
    const auto count = CountOf(group, event);
    ++event;
    table.total.counts.push_back(count.value_or(kNotCounted));
    if (!count) table.notes.push_back(NotCountedText(metric.name));
  }
}

}  // namespace

Result<CommandCounts> CountThreads(const Launch& launch, const ptm::CheckedMetrics& metrics,
                                   bool real_time) {
  const Interruption guard;
  auto counting = ThreadCounting::Start(metrics.metrics);
  if (!counting) return std::unexpected(counting.error());
  auto program = HeldProgram::Start(launch);
  if (!program) return std::unexpected(program.error());
  counting->AddFamily(static_cast<uint32_t>(program->pid()));
  if (real_time) ThreadCounting::RaisePriority();
  if (auto released = program->Release(); !released) return std::unexpected(released.error());
  const Outcome outcome = AwaitEnd(*program, [&counting] { counting->Drain(); });
  counting->Sync();
  return CommandCounts{counting->Table(), outcome.ExitCode()};
}

Result<CommandCounts> CountSum(const Launch& launch, const ptm::CheckedMetrics& metrics) {
  const Interruption guard;
  ptm::EventGroup group;
  const auto opened = OpenGroup(group, EventsOf(metrics), {.inherit = true, .on_exec = true});
  if (!opened) return std::unexpected(opened.error());
  auto program = HeldProgram::Start(launch);
  if (!program) return std::unexpected(program.error());
  if (auto released = program->Release(); !released) return std::unexpected(released.error());
  const auto start = std::chrono::steady_clock::now();
  const Outcome outcome = AwaitEnd(*program, [] {});
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  CommandCounts counts = {{.seconds = seconds.count(), .metrics = metrics.metrics},
                          outcome.ExitCode()};
  counts.table.total = {.name = "(all)", .threads = 0};
  AddSums(metrics, group, counts.table);
  return counts;
}

}  // namespace jprof::record
