#include "record/count/thread_watch.h"

#include <poll.h>

#include <algorithm>
#include <limits>

#include "common/monotonic.h"
#include "common/procfs.h"
#include "record/count/thread_counting.h"
#include "record/run/interruption.h"
#include "record/run/launcher.h"
#include "record/run/print_error.h"

namespace jprof::record {
namespace {

double Seconds() { return static_cast<double>(MonotonicNanos()) / 1e9; }

class Watch {
 public:
  Watch(const WatchPlan& plan, ThreadCounting counting)
      : plan_(plan), counting_(std::move(counting)) {}

  // Starts the command, or adds the threads that exist.
  Result<void> Begin() {
    if (!plan_.launch) counting_.AddExisting(plan_.pid);
    if (plan_.launch) {
      auto held = HeldProgram::Start(*plan_.launch);
      if (!held) return std::unexpected(held.error());
      program_.emplace(*std::move(held));
      counting_.AddFamily(static_cast<uint32_t>(program_->pid()));
    }
    if (plan_.real_time) ThreadCounting::RaisePriority();
    auto released = program_ ? program_->Release() : Result<void>();
    end_ = Seconds();
    return released;
  }

  Result<int> PrintTables(const PrintTable& print) {
    bool over = false;
    for (uint64_t tables = 0; !over && (plan_.count == 0 || tables < plan_.count); ++tables) {
      over = CountFor(plan_.interval);
      counting_.Sync();
      CountTable table = counting_.Table();
      table.command = plan_.target;
      table.notes = plan_.metrics.notes;
      if (auto printed = print(table); !printed) return std::unexpected(printed.error());
      counting_.StartTable();
    }
    while (program_ && !over) over = CountFor(0);
    return exit_code_;
  }

 private:
  // Counts for `seconds`, or without limit if 0. Returns whether counting has ended. Drains at
  // least once, even if it is late. Skips an interval that ends before it begins.
  bool CountFor(double seconds) {
    const double end = seconds > 0 ? end_ + seconds : std::numeric_limits<double>::infinity();
    do {
      Pause(end - Seconds());
      counting_.Drain();
      if (IsOver()) return true;
    } while (Seconds() < end);
    end_ = Seconds() < end + seconds ? end : Seconds();
    return false;
  }

  // Waits for at least a millisecond, to leave time to other programs.
  void Pause(double seconds) {
    constexpr double kMost = ThreadCounting::kDrainMilliseconds;
    const int ms = static_cast<int>(std::clamp(seconds * 1e3 + 1, 1.0, kMost));
    if (program_) {
      program_->AwaitEnd(ms);
    } else {
      poll(nullptr, 0, ms);
    }
  }

  bool IsOver() {
    if (!program_)
      return Interruption::Number() != 0 || (plan_.pid != 0 && !procfs::Exists(plan_.pid));
    Interruption::PassTo(*program_);
    const auto outcome = program_->Ended();
    if (outcome) exit_code_ = outcome->ExitCode();
    return outcome.has_value();
  }

  const WatchPlan& plan_;
  ThreadCounting counting_;
  std::optional<HeldProgram> program_;
  double end_ = 0;  // of the last interval
  int exit_code_ = 0;
};

}  // namespace

void PutDispatchesFirst(std::vector<ptm::CheckedMetric>& metrics) {
  std::erase_if(metrics, [](const auto& metric) { return metric.name == "dispatches"; });
  metrics.insert(metrics.begin(), ptm::CheckedMetric{"dispatches", std::nullopt});
}

void AddInterrupts(WatchPlan& plan) {
  auto interrupts = KernelEvents::Open({.thread_interrupts = true});
  const auto started =
      interrupts ? interrupts->Start() : Result<void>(std::unexpected(interrupts.error()));
  if (!started) return plan.metrics.notes.push_back("no INTR column: " + started.error().message);
  plan.interrupts.emplace(*std::move(interrupts));
  plan.metrics.metrics.insert(plan.metrics.metrics.begin() + 1,
                              ptm::CheckedMetric{kInterrupts, std::nullopt});
}

Result<int> WatchThreads(WatchPlan plan, const PrintTable& print) {
  const Interruption guard;
  auto counting = ThreadCounting::Start(plan.metrics.metrics);
  if (!counting) return std::unexpected(counting.error());
  if (plan.interrupts) counting->CountInterrupts(*std::move(plan.interrupts));
  for (const std::string& note : plan.metrics.notes) PrintError(note);
  Watch watch(plan, *std::move(counting));
  if (auto begun = watch.Begin(); !begun) return std::unexpected(begun.error());
  return watch.PrintTables(print);
}

}  // namespace jprof::record
