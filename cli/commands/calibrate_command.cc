// `jprof calibrate`: trains, stores and prints a calibration table for one JVM.
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "calibrate/train/table_store.h"
#include "calibrate/train/training.h"
#include "cli/shared/commands.h"
#include "cli/shared/record_options.h"
#include "cli/shared/report_options.h"
#include "cli/shared/usage_error.h"
#include "common/kinds.h"
#include "profile/files/printable_text.h"
#include "ptm/names/event_name.h"
#include "record/itrace/traced_run.h"
#include "record/run/installation.h"
#include "record/run/interrupt_cost.h"
#include "record/run/interruption.h"
#include "record/run/java_command.h"
#include "reports/combined/refit.h"

namespace jprof::cli {
namespace {

using record::Interruption;

namespace fs = std::filesystem;
using profile::CleanText;

struct Options {
  std::string java, agent, metrics = "time", output, work;
  bool quick = false, show = false, hooks = false, itrace = false;
  std::vector<std::string> check;
};

// Finds the java of `wanted`, a java program or the folder of a JDK. If it is empty, JAVA_HOME is
// tried first and then PATH.
Result<fs::path> FindJava(const std::string& wanted) {
  const char* home = getenv("JAVA_HOME");
  std::error_code ignored;
  for (const fs::path& place :
       {fs::path(wanted), fs::path(home != nullptr && wanted.empty() ? home : "")}) {
    if (!place.empty() && fs::is_directory(place, ignored))
      return record::FindProgram(place / "bin" / "java");
  }
  auto java = record::FindProgram(wanted.empty() ? "java" : wanted);
  if (!java)
    return WrongUse("{}; give a java program, or a JDK's folder, with --java",
                    java.error().message);
  return java;
}

Result<fs::path> CheckBuilt(const fs::path& path) {
  if (fs::exists(path)) return path;
  return Fail(
      "{} is missing: this jprof was built without a JDK; install one (with javac) and build again",
      path.string());
}

// Runs a trainer, and counts its instructions by tracing the part between two functions of its
// library. The output goes to the file `log`.
Result<calibrate::ChildResult> RunTracedTrainer(const std::vector<std::string>& argv,
                                                const fs::path& log) {
  const auto shell = record::FindProgram("sh");
  if (!shell) return std::unexpected(shell.error());
  record::Launch launch = {*shell, {"sh", "-c", R"(exec "$@" >"$0" 2>&1)", log.string()}, {}, {}};
  launch.arguments.insert(launch.arguments.end(),
                          {"env", "-u", "JAVA_TOOL_OPTIONS", "-u", "JDK_JAVA_OPTIONS", "-u",
                           "JPROFOPTS", "-u", "JPROF_HOOKS"});
  launch.arguments.insert(launch.arguments.end(), argv.begin(), argv.end());
  const auto outcome = record::RunTraced(
      launch, {.begin = "jprof_trainer_begin", .end = "jprof_trainer_end", .all_threads = false});
  if (!outcome) return std::unexpected(outcome.error());
  std::ifstream file(log, std::ios::binary);
  return calibrate::ChildResult{
      outcome->ExitCode(),
      {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()}};
}

// Sets the metrics, in the agent's encoding, which does not use event names.
Result<void> AddMetrics(const std::string& typed, calibrate::Plan& plan) {
  const auto metrics = ptm::CheckMetrics(SplitMetrics(typed), ptm::Uncounted::kTrace);
  if (!metrics) return std::unexpected(metrics.error());
  for (const std::string& note : metrics->notes) PrintError(note);
  std::string text;
  for (const ptm::CheckedMetric& metric : metrics->metrics)
    text += (text.empty() ? "" : "+") + metric.AgentName();
  plan.metrics = text;
  if (!metrics->NeedTracing()) return {};
  if (metrics->metrics.size() > 1)
    return WrongUse("--metrics {}: where instructions are counted by tracing, calibrate them alone",
                    typed);
  plan.run_traced = RunTracedTrainer;
  return {};
}

// Makes a directory for the trainers' profiles, which is removed at the end unless the user chose
// it.
class WorkDirectory {
 public:
  explicit WorkDirectory(const std::string& wanted) : kept_(!wanted.empty()) {
    std::error_code failed;
    if (kept_) {
      fs::create_directories(wanted, failed);
      if (!failed) path_ = wanted;
    } else {
      std::string made = (fs::temp_directory_path(failed) / "jprof-calibrate-XXXXXX").string();
      if (mkdtemp(made.data()) != nullptr) path_ = made;
    }
  }
  ~WorkDirectory() {
    std::error_code ignored;
    if (!kept_ && !path_.empty()) fs::remove_all(path_, ignored);
  }
  WorkDirectory(const WorkDirectory&) = delete;
  const fs::path& path() const { return path_; }  // empty if it could not be created

 private:
  bool kept_;
  fs::path path_;
};

void ShowProgress(int done, int total, std::string_view step) {
  const std::string line = fmt::format("calibrating: run {} of {} ({})", done + 1, total, step);
  if (isatty(STDERR_FILENO)) {
    fmt::print(stderr, "\r\x1b[K{}", line);
  } else {
    fmt::print(stderr, "{}\n", line);
  }
  std::fflush(stderr);
}

bool Interrupted() { return Interruption::Number() != 0; }

void EndProgress() {
  if (isatty(STDERR_FILENO)) fmt::print(stderr, "\r\x1b[K");
}

// Prints overheads in `unit`. A raw unit is `scale` of them.
void PrintMetric(const calibrate::Metric& metric, double scale, std::string_view unit) {
  fmt::print("{} (in {}; read in steps of {:.1f})\n", CleanText(metric.name), CleanText(unit),
             metric.granularity * scale);
  const bool traced = std::ranges::any_of(
      metric.keys, [](const auto& entry) { return entry.second.instructions > 0; });
  fmt::print("{:<12}{:>9}{:>10}{:>8}{:>10}{:>8}{:>8}{:>8}{:>8}{:>8}{}\n", "TRANSITION", "COUNT",
             "OBSERVED", "TRUTH", "OVERHEAD", "SPREAD", "REPEAT", "CONTEXT", "LESS", "MORE",
             traced ? "   INSTR" : "");
  for (const auto& [key, value] : metric.keys) {
    fmt::print("{:<12}{:>9}{:>10.2f}{:>8.2f}{:>10.2f}{:>8.2f}{:>8.2f}{:>8.2f}{:>8.2f}{:>8.2f}{}\n",
               ToString(key), value.count, value.observed * scale, value.truth * scale,
               value.overhead * scale, value.spread * scale, value.repeat * scale,
               value.context * scale, value.less * scale, value.more * scale,
               traced ? fmt::format("{:>8.0f}", value.instructions) : "");
  }
  if (!metric.probes.empty()) {
    fmt::print("{:<12}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}\n", "PROBES OF", "ENTRY IN", "ENTRY OUT",
               "EXIT IN", "EXIT OUT", "ARGUMENT", "RESULT");
  }
  for (const auto& [type, probe] : metric.probes) {
    fmt::print("{:<12}{:>10.2f}{:>10.2f}{:>10.2f}{:>10.2f}{:>10.2f}{:>10.2f}\n", type,
               probe.enter_in, probe.enter_out, probe.exit_in, probe.exit_out, probe.argument,
               probe.result);
  }
  double overhead = 0, repeat = 0, count = 0;
  for (const auto& [key, value] : metric.keys) {
    const auto weight = static_cast<double>(value.count);
    overhead += weight * value.overhead;
    repeat += weight * value.repeat;
    count += weight;
  }
  if (count > 0) {
    fmt::print("{:<12}{:>9}{:>10}{:>8}{:>10.2f}{:>8}{:>8.2f}\n", "all", "", "", "",
               overhead / count * scale, "", repeat / count * scale);
  }
}

// Plans what all trainers have in common.
Result<calibrate::Plan> PlanOf(const Options& options) {
  const auto agent = record::FindAgent(options.agent);
  if (!agent) return std::unexpected(agent.error());
  calibrate::Plan plan;
  plan.agent = *agent;
  if (auto added = AddMetrics(options.metrics, plan); !added) return std::unexpected(added.error());
  plan.quick = options.quick;
  plan.progress = ShowProgress;
  plan.interrupted = Interrupted;
  return plan;
}

// Plans the trainers of Java.
Result<calibrate::Plan> PlanJava(const Options& options) {
  auto plan = PlanOf(options);
  if (!plan) return plan;
  const auto java = FindJava(options.java);
  if (!java) return std::unexpected(java.error());
  const auto trainers = CheckBuilt(record::TrainersPath()),
             natives = CheckBuilt(record::LibraryPath("libjprof_trainer.so"));
  if (!trainers) return std::unexpected(trainers.error());
  if (!natives) return std::unexpected(natives.error());
  plan->java = *java;
  plan->trainers = *trainers;
  plan->natives = *natives;
  return plan;
}

// Plans the trainers of C and C++ functions, one for each kind of hook.
Result<std::vector<calibrate::Plan>> PlanHooks(const Options& options) {
  std::vector<calibrate::Plan> plans;
  for (const ProbeKind kind : {ProbeKind::kHooks, ProbeKind::kSleds}) {
    auto plan = PlanOf(options);
    if (!plan) return std::unexpected(plan.error());
    plan->hook_trainer = record::LibraryPath(fmt::format("jprof-trainer-{}", NameOf(kind)));
    if (fs::exists(plan->hook_trainer))
      plans.push_back(*std::move(plan));
    else
      PrintError(fmt::format("{}: not calibrated: this jprof was built without {}", NameOf(kind),
                             plan->hook_trainer.string()));
  }
  if (plans.empty())
    return Fail("this jprof was built without the trainers of C and C++ functions");
  return plans;
}

// Returns a plan with the same trainers, whose instructions are counted by tracing even where
// counters are available.
calibrate::Plan TracedOf(calibrate::Plan plan) {
  plan.metrics = ptm::EncodeMetric({.name = "instructions", .type = ptm::kCountedInMemory});
  plan.run_traced = RunTracedTrainer;
  return plan;
}

Result<int> TrainAndStore(calibrate::Plan plan, const Options& options) {
  const Interruption guard;  // a signal must not leave the working directory behind
  const WorkDirectory work(options.work);
  if (work.path().empty())
    return Fail("cannot create a working directory: set TMPDIR, or name one with --work");
  plan.work = work.path();

  const auto start = std::chrono::steady_clock::now();
  const auto interrupt = record::MeasureAndKeepInterruptNanos();
  auto trained = calibrate::Train(plan);
  std::optional<calibrate::Metric> instructions;
  if (trained && options.itrace) {
    auto traced = calibrate::Train(TracedOf(plan));
    if (traced)
      instructions = std::move(traced->table.metrics.front());
    else
      trained = std::unexpected(traced.error());
  }
  EndProgress();
  if (Interruption::Number() != 0) return Fail("interrupted: no table was stored");
  if (!trained) return std::unexpected(trained.error());
  int lowered = 0;
  for (calibrate::Metric& metric : trained->table.metrics) {
    if (instructions && metric.unit == "ns")
      lowered = calibrate::AddInstructions(*instructions, metric);
  }
  const auto path = calibrate::SaveTable(trained->table, options.output);
  if (!path) return std::unexpected(path.error());

  for (const calibrate::Metric& metric : trained->table.metrics) {
    PrintMetric(metric, metric.unit == "ns" ? trained->scale : 1, metric.unit);
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  fmt::print("\n");
  for (const auto& check : trained->checks) {
    fmt::print(
        "Check: with the table of the first training, the programs of the second one have an error "
        "of {:+.2f} {} per event{};\n       it differs by {:.2f} between programs.\n",
        check.left, check.unit, trained->checks.size() > 1 ? " of " + check.metric : "",
        check.spread);
  }
  if (instructions) {
    fmt::print(
        "INSTR: the least number of instructions of the transition itself, traced without "
        "probes; {} overheads\n       were lowered because their transition takes at least "
        "the time of these.\n",
        lowered);
  }
  if (interrupt)
    fmt::print("A timer interrupt costs {}\n", record::InterruptText(*interrupt));
  else
    fmt::print("The cost of a timer interrupt was not measured: {}\n", interrupt.error().message);
  const bool java = plan.hook_trainer.empty();
  fmt::print("Table: {} ({:.0f} s, {})\n", path->string(), took.count(),
             (java ? plan.java : plan.hook_trainer).string());
  fmt::print("Next:  jprof callflow -- {} ...   then   jprof report log-rt\n",
             java ? "java" : "program");
  return 0;
}

Result<int> Calibrate(const Options& options) {
  if (!options.hooks) {
    auto plan = PlanJava(options);
    if (!plan) return std::unexpected(plan.error());
    return TrainAndStore(*std::move(plan), options);
  }
  auto plans = PlanHooks(options);
  if (!plans) return std::unexpected(plans.error());
  for (calibrate::Plan& plan : *plans) {
    if (auto done = TrainAndStore(std::move(plan), options); !done) return done;
  }
  return 0;
}

Result<int> Show(const Options& options) {
  std::vector<fs::path> paths;
  if (!options.output.empty()) {
    paths.push_back(options.output);
  } else {
    paths = calibrate::StoredTables();
  }
  if (paths.empty()) {
    return Fail("there is no calibration table in {}: run jprof calibrate",
                calibrate::DataDirectory().string());
  }
  for (const fs::path& path : paths) {
    const auto stored = calibrate::LoadTable(path);
    if (!stored) return std::unexpected(stored.error());
    fmt::print("{}, made {}\n", CleanText(path.string()), CleanText(stored->table.made_at));
    for (const auto& [part, value] : stored->table.fingerprint)
      fmt::print("  {}: {}\n", CleanText(part), CleanText(value));
    for (const calibrate::Metric& metric : stored->table.metrics)
      PrintMetric(metric, 1, metric.unit == "ns" ? "clock ticks" : metric.unit);
  }
  if (const auto interrupt = record::KnownInterruptNanos())
    fmt::print("A timer interrupt costs {}\n", record::InterruptText(*interrupt));
  return 0;
}

// Prints the overheads that the program of the profiles really showed.
Result<int> Check(const Options& options) {
  auto opened =
      OpenCountedAndSampled(options.check.front(), {options.check.begin() + 1, options.check.end()},
                            {.file = options.output});
  if (!opened) return std::unexpected(opened.error());
  const auto refitting = reports::RefitToSamples(opened->counted, opened->sampled);
  if (!refitting) return std::unexpected(refitting.error());
  reports::Output out(stdout, reports::ShowsColour(stdout));
  PrintRefitting(opened->counted, *refitting, out);
  if (auto finished = out.Finish(); !finished) return std::unexpected(finished.error());
  return 0;
}

// Returns the status of the signal for an interrupted calibration.
Result<int> Run(const Options& options) {
  if (options.show) return Show(options);
  if (!options.check.empty()) return Check(options);
  auto done = Calibrate(options);
  const int number = Interruption::Number();
  if (done || number == 0) return done;
  PrintError(done.error().message);
  return 128 + number;
}

}  // namespace

Action CalibrateCommand(CLI::App& sub, const Command&) {
  const auto options = std::make_shared<Options>();
  sub.add_option("--java", options->java,
                 "The java program to calibrate, or the folder of its JDK (JAVA_HOME, else PATH)")
      ->type_name("PATH");
  sub.add_option("--metrics", options->metrics, "Metric set, as for callflow: one table per set")
      ->capture_default_str()
      ->type_name("A+B");
  sub.add_option("--agent", options->agent,
                 "libjprof.so (JPROF_AGENT, else that of this installation)")
      ->type_name("LIB");
  sub.add_option("-o,--output", options->output,
                 "Table file (default: named by fingerprint in the data directory)")
      ->type_name("FILE");
  sub.add_option("--work", options->work, "Keep the trainers' profiles and log here")
      ->type_name("DIR");
  sub.add_flag("--quick", options->quick, "A coarser table in a few seconds");
  sub.add_flag("--hooks", options->hooks,
               "Calibrate the hooks of C and C++ functions (docs/HOOKS.md) instead of a JVM");
  sub.add_flag("--itrace", options->itrace,
               "Also trace the trainers: the number of instructions that each transition takes");
  sub.add_flag("--show", options->show,
               "Print the existing tables (or --output's) instead of training");
  sub.add_option(
         "--check", options->check,
         "Print what overhead a program really showed, per transition, instead of training: "
         "raw times of a counted run less production times of sampled ones (lost inlining "
         "and intrinsics are in it). A combined profile, or COUNTED SAMPLED... of one "
         "program; the table is the profile's, or --output's")
      ->expected(1, -1)
      ->type_name("PROFILE...");
  return [options] { return Run(*options); };
}

}  // namespace jprof::cli
