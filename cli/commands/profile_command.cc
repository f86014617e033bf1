// `jprof profile`: runs a program sampled and then counted, and prints one report of both.
#include <fmt/ranges.h>
#include <string.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "cli/commands/combined_output.h"
#include "cli/shared/choices.h"
#include "cli/shared/commands.h"
#include "cli/shared/record_options.h"
#include "cli/shared/recording_plan.h"
#include "cli/shared/usage_error.h"
#include "common/utc_text.h"
#include "options/java_program.h"
#include "profile/read/reader.h"
#include "record/place/jvm_profiles.h"
#include "record/place/profile_place.h"
#include "record/place/recording_summary.h"
#include "record/run/program_runs.h"

namespace jprof::cli {
namespace {

using profile::CombinedMeta;
using RunMeta = profile::Run;
using record::DisplayPath;
using record::ProgramRun;

namespace fs = std::filesystem;

constexpr uint64_t kDefaultRate = 1000;
constexpr int kMostRuns = 20;
// With --runs auto, a program that counts itself is accurate enough if counting takes at most this
// share of its CPU time, at this cost of a call. The cost is that of a large program that warms up
// (javac: bench/cost/woven.py); a warm javac costs 4 ns per call, loops of small methods 0 to 2.
constexpr char kAutoRuns[] = "auto";
constexpr int kRunsAfterAuto = 2;
constexpr double kAccurateShare = 0.05;
constexpr double kWovenCallNanos = 10;

struct ProfileArguments {
  RecordOptions typed;  // what both kinds of runs have in common, --rate and --metrics
  std::string counted = "calltree";
  std::string runs = "2";  // how many are sampled
};

struct PlannedRun {
  RunMeta::Role role;
  std::string name;  // of the profile's directory
  std::string how;   // for the user, such as "sampled, 1000/s"
  RecordingPlan plan;
};

struct Sequence {
  fs::path out;
  bool begins_with_both = false;  // the first run is counted and sampled, and may be enough
  std::vector<PlannedRun> runs;
  std::vector<std::string> notes;
};

// A recording: its profile, and notes about it.
struct Recorded {
  RunMeta run;
  std::vector<std::string> notes;
};

Result<int> ParseRuns(const std::string& text) {
  int runs = 0;
  for (const char digit : text) runs = std::min(runs * 10 + (digit - '0'), kMostRuns + 1);
  if (text == kAutoRuns) return kRunsAfterAuto;
  const bool number = !text.empty() && text.find_first_not_of("0123456789") == text.npos;
  if (number && runs >= 1 && runs <= kMostRuns) return runs;
  return WrongUse("--runs: '{}' is neither auto nor a whole number from 1 to {}", text, kMostRuns);
}

RecordOptions SampledOptions(RecordOptions typed) {
  typed.options.mode = options::Mode::kScs;
  typed.metrics.clear();
  return typed;
}

Result<RecordOptions> CountedOptions(const ProfileArguments& arguments) {
  const auto mode = Choose("--counted", arguments.counted, {"calltree", "callflow"});
  if (!mode) return std::unexpected(mode.error());
  if (*mode == 0 && !arguments.typed.metrics.empty())
    return WrongUse("--metrics needs --counted callflow: calltree only counts calls");
  RecordOptions counted = arguments.typed;
  counted.options.mode = *mode == 0 ? options::Mode::kCalltree : options::Mode::kCallflow;
  counted.options.fold_recursion = true;
  counted.options.rate = options::AgentOptions().rate;
  return counted;
}

// Returns the options of the run that is both counted by woven code and sampled.
Result<RecordOptions> BothOptions(const ProfileArguments& arguments, RecordOptions counted) {
  if (counted.options.mode != options::Mode::kCalltree)
    return WrongUse("--runs auto needs --counted calltree: callflow changes the program's times");
  counted.options.triggers = {options::Trigger{}};
  counted.options.rate = arguments.typed.options.rate;
  return counted;
}

std::string HowText(const options::AgentOptions& options) {
  if (options.mode == options::Mode::kCallflow) return "counted, with times";
  const uint64_t every = options.triggers.empty() ? 0 : options.triggers.front().every;
  const std::string sampled =
      every == 0 ? "sampled" : fmt::format("sampled, {}/s", 1'000'000'000 / every);
  if (options.mode != options::Mode::kCalltree) return sampled;
  return every == 0 ? "counted" : "counted and " + sampled;
}

// Adds a run to the sequence. JPROFOPTS may not change what the sequence consists of.
Result<void> AddRun(Sequence& sequence, RunMeta::Role role, std::string name, RecordOptions typed,
                    const Command& command) {
  typed.options.out = sequence.out / name;
  auto plan = PlanRecording(typed, command, /*inside=*/true);
  if (!plan) return std::unexpected(plan.error());
  if (plan->options.out != typed.options.out || plan->options.mode != typed.options.mode)
    return WrongUse("JPROFOPTS sets the mode or OUT, which jprof profile chooses; unset it");
  for (const std::string& note : plan->notes)
    if (std::ranges::count(sequence.notes, note) == 0) sequence.notes.push_back(note);
  std::string how = HowText(plan->options);
  sequence.runs.push_back({role, std::move(name), std::move(how), *std::move(plan)});
  return {};
}

// Checks all runs before anything is started.
Result<Sequence> PlanRuns(const ProfileArguments& arguments, const Command& command) {
  const auto runs = ParseRuns(arguments.runs);
  if (!runs) return std::unexpected(runs.error());
  const auto counted = CountedOptions(arguments);
  if (!counted) return std::unexpected(counted.error());
  std::string out = arguments.typed.options.out;
  if (out.empty()) out = record::FreePlace(options::ProfileName(command)).string();
  std::error_code failed;
  Sequence sequence = {.out = fs::absolute(out, failed).lexically_normal()};
  if (failed) return WrongUse("cannot resolve the path {}: {}", out, failed.message());
  if (!sequence.out.has_filename()) sequence.out = sequence.out.parent_path();  // DIR/
  sequence.begins_with_both = arguments.runs == kAutoRuns;
  const auto add_counted = [&](const RecordOptions& options) {
    return AddRun(sequence, RunMeta::Role::kCounted, profile::kCountedProfile, options, command);
  };
  if (sequence.begins_with_both) {
    const auto both = BothOptions(arguments, *counted);
    if (!both) return std::unexpected(both.error());
    if (auto added = add_counted(*both); !added) return std::unexpected(added.error());
  }
  const RecordOptions sampled = SampledOptions(arguments.typed);
  for (int i = 1; i <= *runs; ++i) {
    auto added =
        AddRun(sequence, RunMeta::Role::kSampled, profile::SampledProfile(i), sampled, command);
    if (!added) return std::unexpected(added.error());
  }
  if (!sequence.begins_with_both) {
    if (auto added = add_counted(*counted); !added) return std::unexpected(added.error());
  }
  const auto place = record::PreparePlace(sequence.out, arguments.typed.force);
  if (!place) return std::unexpected(place.error());
  if (auto made = record::MakePlace(sequence.out); !made) return std::unexpected(made.error());
  return sequence;
}

std::string_view OutputText(RunMeta::Output output) {
  switch (output) {
    case RunMeta::Output::kEqual:
      return ", output as in run 1";
    case RunMeta::Output::kDiffers:
      return ", output differs from run 1";
    case RunMeta::Output::kUnknown:
      break;
  }
  return "";
}

// Chooses the profile of the run: that of the JVM that used the most CPU time. Returns nothing if
// there is no profile.
std::optional<Recorded> RecordedIn(const fs::path& out, const PlannedRun& planned,
                                   const ProgramRun& done,
                                   const std::vector<record::JvmProfile>& profiles) {
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
  for (const record::JvmProfile& profile : profiles) {
    if (auto text = record::StillRunsText(profile); !text.empty())
      recorded.notes.push_back(std::move(text));
  }
  return recorded;
}

void PrintRun(const Recorded& recorded, const Sequence& sequence, size_t number) {
  for (const std::string& note : recorded.notes) PrintError(note);
  const RunMeta& run = recorded.run;
  PrintError(fmt::format("run {} of {}: {:.2f} s, {:.2f} s of CPU time, exit status {}{}; {}",
                         number, sequence.runs.size(), *run.wall_seconds, *run.cpu_seconds,
                         *run.exit_status, OutputText(run.output),
                         record::SummaryLine(sequence.out / run.profile)));
}

// Returns why no further run is started after this one, or an empty text if the next one is.
std::string ReasonToStop(const PlannedRun& planned, const record::Outcome& outcome) {
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
  Runner(const Sequence& sequence, const Command& command)
      : sequence_(sequence),
        meta_{.jprof = JPROF_VERSION,
              .start = UtcText(std::time(nullptr)),
              .from = "profile",
              .command = command} {}

  // Returns the exit status of the first run, or the status without a profile.
  Result<int> RunAll() {
    for (size_t i = 0; i < sequence_.runs.size(); ++i) {
      const bool goes_on = RunOne(i);
      if (!goes_on) break;
    }
    if (error_ && meta_.runs.empty()) return Ended(std::unexpected(*error_));
    if (error_) PrintError(error_->message);
    return Ended(status_);
  }

 private:
  bool RunOne(size_t i) {
    const PlannedRun& planned = sequence_.runs[i];
    const size_t count = sequence_.runs.size();
    if (i == 1 && !program_.RepeatNote().empty()) PrintError(std::string(program_.RepeatNote()));
    PrintError(fmt::format("run {} of {}: {}", i + 1, count, planned.how));
    RunWatch watch(planned.plan);
    const auto done = program_.Run(planned.plan.launch, watch.Observer());
    if (!done) {
      error_ = done.error();
      return false;
    }
    if (i == 0) status_ = done->outcome.ExitCode();
    const std::string stop = ReasonToStop(planned, done->outcome);
    if (watch.ProfileIsGone()) {
      const int status = StatusOfGoneProfile(planned.plan, done->outcome);
      if (status_ == 0) status_ = status;
      return false;
    }
    const auto settled = record::SettleProfiles(planned.plan.options.out);
    for (const std::string& note : settled.notes) PrintError(note);
    watch.PrintUnprofiled(settled.profiles);
    if (auto recorded = RecordedIn(sequence_.out, planned, *done, settled.profiles)) {
      PrintRun(*recorded, sequence_, i + 1);
      std::ranges::move(recorded->notes, std::back_inserter(meta_.notes));
      meta_.runs.push_back(std::move(recorded->run));
      if (i == 0 && sequence_.begins_with_both && stop.empty() && IsEnough()) return false;
    } else {
      const int status = StatusWithoutProfile(planned.plan, done->outcome);
      if (i == 0) status_ = status;
      return false;
    }
    if (stop.empty()) return true;
    PrintError(fmt::format("run {} of {}: {}{}", i + 1, count, stop,
                           i + 1 < count ? "; no further run is started" : ""));
    return false;
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

  // Combines what was recorded if both kinds exist, and prints the report.
  Result<int> Ended(Result<int> status) {
    const auto has = [&](RunMeta::Role role) {
      return std::ranges::count(meta_.runs, role, &RunMeta::role) != 0;
    };
    if (meta_.runs.empty()) {
      std::error_code ignored;
      fs::remove(sequence_.out, ignored);  // fails if it contains anything
      return status;
    }
    if (!has(RunMeta::Role::kCounted)) {
      PrintError(
          fmt::format("there is no counted run to combine; what was sampled: jprof report "
                      "scs {}",
                      DisplayPath(sequence_.out / meta_.runs.front().profile)));
      return status;
    }
    auto done = WriteRuns(sequence_.out, meta_);
    if (done) done = PrintCombinedReport(sequence_.out, stderr);
    if (!done) return std::unexpected(done.error());
    return status;
  }

  const Sequence& sequence_;
  CombinedMeta meta_;
  record::ProgramRuns program_;
  int status_ = 2;
  std::optional<Error> error_;
};

Result<int> Profile(const CLI::App& sub, const ProfileArguments& arguments,
                    const Command& command) {
  if (const auto checked = CheckCommand(sub, command); !checked)
    return std::unexpected(checked.error());
  const auto sequence = PlanRuns(arguments, command);
  if (!sequence) return std::unexpected(sequence.error());
  for (const std::string& note : sequence->notes) PrintError(note);
  const auto note = UncalibratedNote(sequence->runs.back().plan.options.mode);
  if (!note.empty()) PrintError(note);
  return Runner(*sequence, command).RunAll();
}

constexpr char kHelp[] =
    R"(The program runs several times: first sampled and otherwise unmodified, at last counted. Its input
is the same in every run, and its output goes where it always goes, once per run. The exit status is
that of the first run.

Give the command after --:  jprof profile [options] -- java -jar app.jar

Examples:
  jprof profile -- java -jar app.jar                   2 sampled runs, then a counted one
  jprof profile --runs 5 -- java -jar app.jar          narrower intervals
  jprof profile --runs auto -- java -jar app.jar       one run, if that is accurate enough
  jprof profile --counted callflow --metrics time+PAPI_TOT_INS -- java -jar app.jar
  jprof profile -- mvn test                            the busiest JVM that the command starts
  jprof report combined DIR                            the report again)";

}  // namespace

Action ProfileCommand(CLI::App& sub, const Command& command) {
  sub.footer(kHelp);
  sub.prefix_command();  // CheckCommand reports the first unknown argument
  auto arguments = std::make_shared<ProfileArguments>();
  RecordOptions& typed = arguments->typed;
  typed.options.rate = kDefaultRate;
  sub.add_option("--runs", arguments->runs,
                 fmt::format("sampled runs, from 1 to {} (default 2): their differences show how "
                             "far times can be trusted; auto: one run that is counted and sampled "
                             "and, if counting changes its times, 2 sampled ones",
                             kMostRuns))
      ->type_name("N|auto");
  sub.add_option("--counted", arguments->counted,
                 "how the last run counts: calltree (default) or callflow, which also measures "
                 "times and metrics")
      ->type_name("calltree|callflow");
  AddOption(sub, "-o,--out", typed);
  AddOption(sub, "--rate", typed,
            fmt::format("samples per second of a thread's CPU time (default {})", kDefaultRate));
  AddOption(sub, "--metrics", typed, "with --counted callflow: metrics to measure (default time)");
  AddOption(sub, "--tree-memory", typed);
  AddOption(sub, "--children", typed,
            "which JVMs of the command to record: no, first or all; the report is about the one "
            "that used the most CPU time (default: no for java, else all)");
  AddCommandOptions(sub, typed);
  return [&sub, arguments, &command] { return Profile(sub, *arguments, command); };
}

}  // namespace jprof::cli
