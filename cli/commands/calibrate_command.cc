// `jprof calibrate`: trains, stores and prints a calibration table for one JVM.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "calibrate/store/table_store.h"
#include "cli/commands/calibration_text.h"
#include "cli/shared/commands.h"
#include "cli/shared/profile_source.h"
#include "cli/shared/report_options.h"
#include "cli/shared/usage_error.h"
#include "options/option_table.h"
#include "profile/files/printable_text.h"
#include "record/calibrate/calibration.h"
#include "record/place/recording_summary.h"
#include "record/run/interrupt_cost.h"
#include "record/run/interruption.h"
#include "record/run/status_line.h"
#include "reports/combined/refit_report.h"

namespace jprof::cli {
namespace {

using record::Interruption;

namespace fs = std::filesystem;

struct CalibrateArguments {
  record::CalibrationRequest request;
  bool show = false;
  std::vector<std::string> check;
};

void ShowRun(int done, int total, std::string_view step, record::StatusLine& line) {
  const std::string text = fmt::format("calibrating: run {} of {} ({})", done + 1, total, step);
  if (record::StatusLine::IsShown()) return line.Show(text);
  fmt::print(stderr, "{}\n", text);
  std::fflush(stderr);
}

Result<int> TrainAndPrint(calibrate::Plan plan, const record::CalibrationRequest& request) {
  record::StatusLine line;
  plan.progress = [&line](int done, int total, std::string_view step) {
    ShowRun(done, total, step, line);
  };
  const auto done = record::Calibrate(plan, request);
  line.End();
  if (!done) return std::unexpected(done.error());
  reports::Output out(stdout);
  PrintCalibration(*done, plan, out);
  return StatusOf(out.Finish());
}

// Names the report of the newest profile, which the new table may correct.
void PrintNextCommand() {
  const std::string profile = FindNewestProfile(/*combined=*/false);
  PrintNext(profile.empty() ? "jprof callflow -- java -jar app.jar"
                            : "jprof report " + record::DisplayPath(profile));
}

Result<int> Calibrate(const record::CalibrationRequest& request) {
  auto plans = record::PlanCalibration(request);
  if (!plans) return std::unexpected(plans.error());
  for (calibrate::Plan& plan : *plans) {
    if (auto done = TrainAndPrint(std::move(plan), request); !done) return done;
  }
  PrintNextCommand();
  return 0;
}

Result<int> Show(const std::string& file) {
  const std::vector<fs::path> paths =
      file.empty() ? calibrate::StoredTables() : std::vector<fs::path>{file};
  if (paths.empty()) {
    return Fail("there is no calibration table in {}: run jprof calibrate",
                calibrate::DataDirectory().string());
  }
  reports::Output out(stdout);
  for (const fs::path& path : paths) {
    const auto stored = calibrate::LoadTable(path);
    if (!stored) {
      static_cast<void>(out.Finish());
      return std::unexpected(stored.error());
    }
    PrintTable(*stored, out);
  }
  if (const auto interrupt = record::KnownInterruptNanos())
    out.Print("A timer interrupt costs {}\n", record::InterruptText(*interrupt));
  return StatusOf(out.Finish());
}

// Prints the overheads that the program of the profiles really showed.
Result<int> Check(const CalibrateArguments& arguments) {
  const std::vector<std::string>& profiles = arguments.check;
  auto opened = OpenCountedAndSampled(profiles.front(), {profiles.begin() + 1, profiles.end()},
                                      {.file = arguments.request.output});
  if (!opened) return std::unexpected(opened.error());
  const auto refitting = model::RefitToSamples(opened->counted, opened->sampled);
  if (!refitting) return std::unexpected(refitting.error());
  reports::Output out(stdout, reports::ShowsColour(stdout));
  PrintRefitting(opened->counted, *refitting, out);
  return StatusOf(out.Finish());
}

// Returns the status of the signal for an interrupted calibration.
Result<int> Run(const CalibrateArguments& arguments) {
  if (arguments.show) return Show(arguments.request.output);
  if (!arguments.check.empty()) return Check(arguments);
  auto done = Calibrate(arguments.request);
  const int number = Interruption::Number();
  if (done || number == 0) return done;
  PrintError(done.error().message);
  return 128 + number;
}

constexpr char kCalibrateHelp[] =
    R"(Runs small programs of known cost with the recording of callflow, for about a minute. Needed once
for each JVM and set of metrics, and only for `jprof callflow`.

Examples:
  jprof calibrate                            the java of JAVA_HOME or PATH
  jprof calibrate --java /usr/lib/jvm/jdk    another one
  jprof calibrate --metrics time+PAPI_TOT_INS    for callflow with these metrics
  jprof calibrate --hooks                    C and C++ functions, instead of a JVM
  jprof calibrate --show                     the existing tables)";

}  // namespace

Action CalibrateCommand(CommandLine line, const Command&) {
  const auto arguments = std::make_shared<CalibrateArguments>();
  record::CalibrationRequest& r = arguments->request;
  line.Footer(kCalibrateHelp);
  line.Option("--java", r.java, "PATH",
              "The java program to calibrate, or the folder of its JDK (JAVA_HOME, else PATH)");
  line.Option("--metrics", r.metrics, "A+B", "Metric set, as for callflow: one table per set")
      .ShowDefault();
  line.Flag("--quick", r.quick, "A coarser table in a few seconds");
  line.Flag("--hooks", r.hooks,
            "Calibrate the hooks of C and C++ functions (docs/HOOKS.md) instead of a JVM");
  line.Flag("--show", arguments->show,
            "Print the existing tables (or --output's) instead of measuring");
  line.Group(options::kRarelyNeeded);
  line.Option("--agent", r.agent, "LIB",
              "The agent library (default: JPROF_AGENT, or libjprof.so of this installation)");
  line.Option("-o,--output", r.output, "FILE",
              "Table file (default: named by fingerprint in the data directory)");
  line.Option("--work", r.work, "DIR",
              "Keep the profiles and the log of the measured programs here");
  line.Flag(
      "--itrace", r.itrace,
      "Also trace the measured programs: the number of instructions that each transition takes");
  line.Option("--check", arguments->check, "PROFILE...",
              "Print what overhead a program really showed, per transition, instead of measuring: "
              "raw times of a counted run less production times of sampled ones (lost inlining "
              "and intrinsics are in it). A combined profile, or COUNTED SAMPLED... of one "
              "program; the table is the profile's, or --output's")
      .SeveralValues();
  return [arguments] { return Run(*arguments); };
}

}  // namespace jprof::cli
