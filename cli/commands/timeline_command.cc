// `jprof timeline`: records which thread ran on which processor when, until when, and why it
// stopped, beside the calls of the program.
#include <fmt/ranges.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <optional>

#include "cli/shared/commands.h"
#include "cli/shared/record_command.h"
#include "cli/shared/record_options.h"
#include "cli/shared/usage_error.h"
#include "profile/files/recording_meta.h"
#include "profile/files/whole_file.h"
#include "record/kernel/kernel_recording.h"
#include "record/place/jvm_profiles.h"
#include "record/place/recording_summary.h"
#include "record/run/installation.h"

namespace jprof::cli {
namespace {

namespace fs = std::filesystem;

struct TimelineArguments {
  record::TypedOptions typed;
  record::KernelEventsOptions kernel;
  std::vector<std::string> counters;
};

// Records the kernel's events to a folder beside the profile, which the agent makes, and moves it
// into the profile when the command has ended.
class KernelCompanion final : public Companion {
 public:
  explicit KernelCompanion(const TimelineArguments& arguments) : arguments_(arguments) {}

  Result<void> Begin(const record::RecordingPlan& plan) override {
    record::KernelEventsOptions options = arguments_.kernel;
    if (const auto agent = record::FindAgent(arguments_.typed.agent))
      options.announcers.push_back(agent->string());
    beside_ = fmt::format("{}.events-{}", plan.options.out, getpid());
    auto begun = record::KernelRecording::Begin(beside_, options);
    if (!begun) return std::unexpected(begun.error());
    recording_.emplace(*std::move(begun));
    return {};
  }

  void Observe(uint32_t pid) override {
    if (meta_.process != 0) return;
    meta_.process = pid;
    recording_->AddTarget(pid);
    recording_->RemoveSelf();
  }

  Result<int> End(const record::RecordingPlan& plan, const record::Outcome& outcome,
                  record::RunWatch& watch) override {
    const record::KernelRecordingEnd end = recording_->End();
    recording_.reset();
    const fs::path place = plan.options.out;
    const bool profiled = !record::JvmProfilesAt(place).empty();
    int status = outcome.ExitCode();
    if (profiled) status = ReportRun(plan, outcome, watch);
    meta_.notes = end.notes;
    meta_.command = fmt::format("{}", fmt::join(plan.launch.arguments, " "));
    std::error_code failed;
    fs::create_directories(place / "events", failed);
    if (!failed) fs::rename(beside_, place / "events" / "kernel", failed);
    if (!failed) WriteMeta(place / "events" / profile::kRecordingFile);
    if (failed)
      return Fail("the events of the kernel are in {}: they cannot be moved to {}: {}",
                  beside_.string(), place.string(), failed.message());
    for (const std::string& note : end.notes) PrintError(note);
    if (end.lost != 0)
      PrintError(fmt::format("{} of {} events of the kernel were lost: its buffers were full",
                             end.lost, end.lost + end.records));
    fmt::print(stderr, "jprof: {} events of the kernel: {}\n", end.records,
               record::DisplayPath(place / "events" / "kernel"));
    return status;
  }

 private:
  void WriteMeta(const fs::path& path) const {
    if (const auto written = profile::WriteWholeFile(path.string(), profile::ToJson(meta_));
        !written)
      PrintError(written.error().message);
  }

  const TimelineArguments& arguments_;
  fs::path beside_;
  std::optional<record::KernelRecording> recording_;
  profile::RecordingMeta meta_;
};

Result<int> Timeline(const CommandLine& line, TimelineArguments& arguments,
                     const Command& command) {
  if (const auto checked = CheckCommand(line, command); !checked)
    return std::unexpected(checked.error());
  KernelCompanion companion(arguments);
  return RecordCommand(arguments.typed, command, &companion);
}

}  // namespace

Action TimelineCommand(CommandLine line, const Command& command) {
  line.Footer(
      "Examples:\n"
      "  jprof timeline -- java -jar app.jar                what each thread did when, and why it "
      "waited\n"
      "  jprof timeline --system-calls -- ./app             a program in any language\n"
      "  jprof report timeline app.jprof                    states and longest waits by thread\n"
      "  jprof export --format perfetto app.jprof           for ui.perfetto.dev");
  line.AllowOthers();
  auto arguments = std::make_shared<TimelineArguments>();
  arguments->typed.options.mode = options::Mode::kCalltree;
  AddOptions(line, arguments->typed);
  line.Group(CommandLine::kOptions);
  line.Flag("--system-calls", arguments->kernel.system_calls,
            "Also record each system call of the program");
  line.Flag("--memory", arguments->kernel.memory,
            "Also record the program's page faults and the files that it maps");
  return [line, arguments, &command] { return Timeline(line, *arguments, command); };
}

}  // namespace jprof::cli
