#include "record/calibrate/calibration_plan.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "common/kinds.h"
#include "ptm/names/event_name.h"
#include "record/itrace/traced_run.h"
#include "record/run/installation.h"
#include "record/run/interruption.h"
#include "record/run/java_command.h"
#include "record/run/print_error.h"

namespace jprof::record {
namespace {

namespace fs = std::filesystem;

// Finds the java of `wanted`, a java program or the folder of a JDK. If it is empty, JAVA_HOME is
// tried first and then PATH.
Result<fs::path> FindJava(const std::string& wanted) {
  const char* home = getenv("JAVA_HOME");
  std::error_code ignored;
  for (const fs::path& place :
       {fs::path(wanted), fs::path(home != nullptr && wanted.empty() ? home : "")}) {
    if (!place.empty() && fs::is_directory(place, ignored))
      return FindProgram(place / "bin" / "java");
  }
  auto java = FindProgram(wanted.empty() ? "java" : wanted);
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
  const auto shell = FindProgram("sh");
  if (!shell) return std::unexpected(shell.error());
  Launch launch = {*shell, {"sh", "-c", R"(exec "$@" >"$0" 2>&1)", log.string()}, {}, {}};
  launch.arguments.insert(launch.arguments.end(),
                          {"env", "-u", "JAVA_TOOL_OPTIONS", "-u", "JDK_JAVA_OPTIONS", "-u",
                           "JPROFOPTS", "-u", "JPROF_HOOKS"});
  launch.arguments.insert(launch.arguments.end(), argv.begin(), argv.end());
  const auto outcome = RunTraced(
      launch, {.begin = "jprof_trainer_begin", .end = "jprof_trainer_end", .all_threads = false});
  if (!outcome) return std::unexpected(outcome.error());
  std::ifstream file(log, std::ios::binary);
  return calibrate::ChildResult{
      outcome->ExitCode(),
      {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()}};
}

// Sets the metrics, in the agent's encoding, which does not use event names.
Result<void> AddMetrics(const std::string& typed, calibrate::Plan& plan) {
  const auto metrics = ptm::CheckMetrics(ptm::SplitNames(typed), ptm::Uncounted::kTrace);
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

// Plans what all trainers have in common.
Result<calibrate::Plan> PlanAny(const CalibrationRequest& request) {
  const auto agent = FindAgent(request.agent);
  if (!agent) return std::unexpected(agent.error());
  calibrate::Plan plan;
  plan.agent = *agent;
  if (auto added = AddMetrics(request.metrics, plan); !added) return std::unexpected(added.error());
  plan.quick = request.quick;
  plan.interrupted = [] { return Interruption::Number() != 0; };
  return plan;
}

// Completes the plan for the trainers of Java.
Result<std::vector<calibrate::Plan>> PlanJava(const std::string& wanted, calibrate::Plan plan) {
  const auto java = FindJava(wanted);
  if (!java) return std::unexpected(java.error());
  const auto trainers = CheckBuilt(TrainersPath()),
             natives = CheckBuilt(LibraryPath("libjprof_trainer.so"));
  if (!trainers) return std::unexpected(trainers.error());
  if (!natives) return std::unexpected(natives.error());
  plan.java = *java;
  plan.trainers = *trainers;
  plan.natives = *natives;
  return std::vector{std::move(plan)};
}

// Completes the plan for the trainers of C and C++ functions, one for each kind of hook.
Result<std::vector<calibrate::Plan>> PlanHooks(const calibrate::Plan& common) {
  std::vector<calibrate::Plan> plans;
  for (const ProbeKind kind : {ProbeKind::kHooks, ProbeKind::kSleds}) {
    calibrate::Plan plan = common;
    plan.hook_trainer = LibraryPath(fmt::format("jprof-trainer-{}", NameOf(kind)));
    if (fs::exists(plan.hook_trainer))
      plans.push_back(std::move(plan));
    else
      PrintError(fmt::format("{}: not calibrated: this jprof was built without {}", NameOf(kind),
                             plan.hook_trainer.string()));
  }
  if (plans.empty())
    return Fail("this jprof was built without the trainers of C and C++ functions");
  return plans;
}

}  // namespace

Result<std::vector<calibrate::Plan>> PlanCalibration(const CalibrationRequest& request) {
  auto plan = PlanAny(request);
  if (!plan) return std::unexpected(plan.error());
  return request.hooks ? PlanHooks(*plan) : PlanJava(request.java, *std::move(plan));
}

calibrate::Plan TracedPlan(calibrate::Plan plan) {
  plan.metrics = ptm::EncodeMetric({.name = "instructions", .type = ptm::kCountedInMemory});
  plan.run_traced = RunTracedTrainer;
  return plan;
}

}  // namespace jprof::record
