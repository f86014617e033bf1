#include "record/agent/sequence_runner.h"

#include <fmt/format.h>
#include <string.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "common/utc_text.h"
#include "profile/read/reader.h"
#include "record/agent/run_progress.h"
#include "record/agent/run_watch.h"
#include "record/place/jvm_profiles.h"
#include "record/place/profile_place.h"
#include "record/place/recording_summary.h"
#include "record/run/print_error.h"

namespace jprof::record {
namespace {

using RunMeta = profile::Run;

namespace fs = std::filesystem;

// With --runs auto, a program that counts itself is accurate enough if counting takes at most this
// share of its CPU time, at this cost of a call. The cost is that of a large program that warms up
// (javac: bench/cost/woven.py); a warm javac costs 4 ns per call, loops of small methods 0 to 2.
constexpr double kAccurateShare = 0.05;
constexpr double kWovenCallNanos = 10;

// A recording: its profile, and notes about it.
struct Recorded {
  RunMeta run;
  std::vector<std::string> notes;
};

// Chooses the profile of the run: that of the JVM that used the most CPU time. Returns nothing if
// there is no profile.
std::optional<Recorded> RecordedIn(const fs::path& out, const PlannedRun& planned,
                                   const ProgramRun& done,
                                   const std::vector<JvmProfile>& profiles) {
  if (profiles.empty()) return std::nullopt;
  Recorded recorded = {.run = {.role = planned.role,
                               .profile = profiles.front().path.lexically_relative(out).string(),
                               .wall_seconds = done.outcome.wall_seconds,
                               .cpu_seconds = done.outcome.cpu_seconds,
                               .exit_status = done.outcome.ExitCode(),
                               .output = done.output.output,
                               .output_note = done.output.note}};
  if (profiles.size() > 1) {
    recorded.notes.push_back(fmt::format(
        "{}: {} JVMs were recorded; the report is about {}, which used the most CPU time",
        planned.name, profiles.size(), recorded.run.profile));
  }
  for (const JvmProfile& profile : profiles) {
    if (auto text = StillRunsText(profile); !text.empty())
      recorded.notes.push_back(std::move(text));
  }
  return recorded;
}

// Returns why no further run is started after this one, or an empty text if the next one is.
std::string ReasonToStop(const PlannedRun& planned, const Outcome& outcome) {
  if (outcome.signal != 0) {
    return fmt::format("{} was ended by signal {} ({})", planned.plan.launch.arguments.front(),
                       outcome.signal, strsignal(outcome.signal));
  }
  if (outcome.interruption != 0)
    return fmt::format("interrupted by SIG{}", sigabbrev_np(outcome.interruption));
  return "";
}

// Returns the largest share of the CPU time that counting may have taken in a run that is counted
// and sampled. Returns nothing if it was not counted by woven code, or if its CPU time is unknown.
std::optional<double> ShareOfCounting(const fs::path& path, const RunMeta& run) {
  auto reader = profile::Reader::Open(path.string());
  if (!reader || !reader->meta().probe.is(ProbeKind::kWoven) || run.cpu_seconds.value_or(0) <= 0)
    return std::nullopt;
  const auto tree = reader->ReadTree();
  if (!tree) return std::nullopt;
  double calls = 0;
  for (const profile::Counts& counts : tree->counts) calls += counts.entries[0];
  return calls * kWovenCallNanos / 1e9 / *run.cpu_seconds;
}

class Runner {
 public:
  Runner(const RunSequence& sequence, profile::CombinedMeta meta, ProgramRuns& program)
      : sequence_(sequence),
        meta_(std::move(meta)),
        progress_(sequence.runs.size(), sequence.begins_with_both, sequence.label),
        program_(program) {}

  Result<SequenceEnd> RunAll() {
    for (size_t i = 0; i < sequence_.runs.size(); ++i) {
      const Next next = RunOne(i);
      stopped_ = next == Next::kStop;
      if (next != Next::kRun) break;
    }
    if (meta_.runs.empty()) return NothingRecorded();
    if (error_) PrintError(error_->message);
    return Combined();
  }

 private:
  // States whether the next run starts, the runs are enough, or a run has failed.
  enum class Next { kRun, kEnough, kStop };

  Next RunOne(size_t i) {
    const PlannedRun& planned = sequence_.runs[i];
    const size_t count = sequence_.runs.size();
    if (const auto note = program_.RepeatNote(); !note.empty()) PrintError(std::string(note));
    RunWatch watch(planned.plan);
    const auto done = RunWatched(planned, watch);
    if (!done) {
      error_ = done.error();
      return Next::kStop;
    }
    if (i == 0) status_ = done->outcome.ExitCode();
    watch.EndSeries();
    if (watch.ProfileIsGone()) {
      const int status = StatusOfGoneProfile(planned.plan, done->outcome);
      if (status_ == 0) status_ = status;
      return Next::kStop;
    }
    if (!Keep(i, *done, watch)) return Next::kStop;
    const std::string stop = ReasonToStop(planned, done->outcome);
    if (stop.empty())
      return i == 0 && sequence_.begins_with_both && IsEnough() ? Next::kEnough : Next::kRun;
    PrintError(fmt::format("run {} of {}: {}{}", i + 1, count, stop,
                           i + 1 < count ? "; no further run is started" : ""));
    return Next::kStop;
  }

  Result<ProgramRun> RunWatched(const PlannedRun& planned, RunWatch& watch) {
    progress_.Begin(planned.how);
    auto done = program_.Run(planned.plan.launch, [&, look = watch.Observer()](uint32_t pid) {
      look(pid);
      progress_.Look();
    });
    progress_.End();
    return done;
  }

  // Adds the profile of a run. Returns false if there is none.
  bool Keep(size_t i, const ProgramRun& done, const RunWatch& watch) {
    const PlannedRun& planned = sequence_.runs[i];
    const auto settled = SettleProfiles(planned.plan.options.out);
    for (const std::string& note : settled.notes) PrintError(note);
    watch.PrintUnprofiled(settled.profiles);
    auto recorded = RecordedIn(sequence_.out, planned, done, settled.profiles);
    if (!recorded) {
      const int status = StatusWithoutProfile(planned.plan, done.outcome);
      if (i == 0) status_ = status;
      return false;
    }
    for (const std::string& note : recorded->notes) PrintError(note);
    KeepTable(sequence_.out / recorded->run.profile);
    std::ranges::move(recorded->notes, std::back_inserter(meta_.notes));
    meta_.runs.push_back(std::move(recorded->run));
    return true;
  }

  // Returns whether the first run, counted and sampled, needs no others. If so, it is used as both.
  bool IsEnough() {
    const RunMeta& both = meta_.runs.front();
    const auto share = ShareOfCounting(sequence_.out / both.profile, both);
    const bool enough = share && *share <= kAccurateShare;
    PrintError(
        !share ? std::string("its methods did not count themselves: its times are not true; the "
                             "program runs again, sampled")
               : fmt::format("counting took at most {:.{}f} % of the CPU time: {}", *share * 100,
                             *share < 0.1 ? 1 : 0,
                             enough ? "one run is accurate enough"
                                    : "the program runs again, sampled, for true times"));
    if (!enough) return false;
    meta_.runs.push_back(both);
    meta_.runs.back().role = RunMeta::Role::kSampled;
    return true;
  }

  Result<SequenceEnd> NothingRecorded() {
    std::error_code ignored;
    fs::remove(sequence_.out, ignored);  // fails if it contains anything
    if (error_) return std::unexpected(*error_);
    return SequenceEnd{.status = status_, .stopped = true};
  }

  // Makes a combined profile if both kinds of runs were recorded.
  Result<SequenceEnd> Combined() {
    if (std::ranges::count(meta_.runs, RunMeta::Role::kCounted, &RunMeta::role) == 0) {
      PrintError(
          fmt::format("there is no counted run to combine; what was sampled: jprof report scs {}",
                      DisplayPath(sequence_.out / meta_.runs.front().profile)));
      return SequenceEnd{.status = status_, .stopped = stopped_};
    }
    if (auto written = WriteRuns(sequence_.out, meta_); !written)
      return std::unexpected(written.error());
    return SequenceEnd{.status = status_, .combined = true, .stopped = stopped_};
  }

  const RunSequence& sequence_;
  profile::CombinedMeta meta_;
  RunProgress progress_;
  ProgramRuns& program_;
  int status_ = 2;
  bool stopped_ = false;
  std::optional<Error> error_;
};

}  // namespace

Result<SequenceEnd> RunAll(const RunSequence& sequence, profile::CombinedMeta meta,
                           ProgramRuns& program) {
  meta.start = UtcText(std::time(nullptr));
  meta.from = "profile";
  return Runner(sequence, std::move(meta), program).RunAll();
}

}  // namespace jprof::record
