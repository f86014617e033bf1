#include "record/agent/attached_recording.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "common/errno_text.h"
#include "common/procfs.h"
#include "options/java_program.h"
#include "record/agent/recording_plan.h"
#include "record/attach/attached_agent.h"
#include "record/place/profile_place.h"
#include "record/place/recording_summary.h"
#include "record/run/await_end.h"
#include "record/run/interruption.h"
#include "record/run/print_error.h"
#include "record/series/series_recorder.h"

namespace jprof::record {
namespace {

namespace fs = std::filesystem;

std::string DurationText(uint64_t seconds) {
  return seconds == 0 ? "; Ctrl-C ends the recording, not the program"
                      : fmt::format(" for {} s; Ctrl-C ends the recording earlier", seconds);
}

// Does not throw if the terminal is gone, because the agent has to be detached.
void PrintNote(const std::string& text) { std::fputs(("jprof: " + text + "\n").c_str(), stderr); }

// Records from the attachment until the profile is complete. Requires an Interruption.
Result<void> Attached(AttachTarget target, const AttachPlan& plan, uint64_t seconds) {
  const uint32_t pid = target.pid;
  if (plan.snapshots.Any() && (!target.shares_files || target.ids.user != geteuid())) {
    return WrongUse(
        "{} is not available: process {} runs as another user or has other files, and its "
        "profile is moved only at the end",
        FlagOf(plan.snapshots), pid);
  }
  signal(SIGPIPE, SIG_IGN);
  auto attached = AttachedAgent::Load(std::move(target), plan.agent_library, plan.options);
  if (!attached) return std::unexpected(attached.error());
  for (const std::string& note : attached->notes()) PrintNote(note);
  PrintNote(fmt::format("recording process {}{}", pid, DurationText(seconds)));
  SeriesRecorder series(plan.options.out, plan.snapshots, plan.place);
  AwaitEnd(attached->target().process.get(), seconds, [&series] { series.Look(); });
  if (attached->target().Ended())
    PrintNote(fmt::format("process {} has ended; the profile is complete up to its end", pid));
  auto detached = attached->Detach();
  for (const std::string& line : series.End()) PrintNote(line);
  return detached;
}

// Replaces an existing profile, which --force allows.
Result<void> PutInPlace(const fs::path& profile, const fs::path& place) {
  if (profile == place) return {};
  const auto prepared = PreparePlace(place, true);
  if (prepared && rename(profile.c_str(), prepared->c_str()) == 0) return {};
  return Fail("the profile remains in {}: {}", profile.string(),
              prepared ? ErrnoText() : prepared.error().message);
}

}  // namespace

Result<int> RecordRunning(uint32_t pid, uint64_t duration, const TypedOptions& typed) {
  auto target = FindTarget(pid);
  if (!target) return std::unexpected(target.error());
  const auto command = procfs::CommandLine(pid);
  const auto plan = PlanAttach(typed, command.empty() ? "java" : options::ProfileName(command));
  if (!plan) return std::unexpected(plan.error());
  for (const std::string& note : plan->notes) PrintError(note);
  if (const auto note = UncalibratedNote(typed.options.mode); !note.empty()) PrintError(note);
  const uint64_t sampled = plan->options.duration;
  const uint64_t seconds = sampled != 0 ? plan->options.delay + sampled : duration;
  const Interruption guard;  // also for a second signal, until the profile is in its place
  if (auto done = Attached(*std::move(target), *plan, seconds); !done)
    return std::unexpected(done.error());
  if (!IsProfile(plan->options.out))
    return Fail("process {} has made no profile in {}", pid, plan->options.out);
  if (auto done = PutInPlace(plan->options.out, plan->place); !done)
    return std::unexpected(done.error());
  return PrintSummary(plan->place, plan->options) ? 0 : 2;
}

}  // namespace jprof::record
