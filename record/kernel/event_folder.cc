#include "record/kernel/event_folder.h"

#include <fmt/ranges.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "common/fd.h"
#include "common/private_file.h"
#include "profile/files/layout.h"
#include "profile/files/whole_file.h"
#include "record/place/jvm_profiles.h"
#include "record/place/recording_summary.h"
#include "record/run/await_end.h"
#include "record/run/interruption.h"
#include "record/run/launcher.h"
#include "record/run/no_process.h"
#include "record/run/print_error.h"

namespace jprof::record {
namespace {

namespace fs = std::filesystem;

constexpr char kProgramsVariable[] = "JPROF_EVENTS_FOLDER";  // events/runtime

Result<int> RunCommand(const EventRun& run, EventFolder& folder) {
  const auto program = FindProgram(run.command.front());
  if (!program) return std::unexpected(program.error());
  const auto outcome =
      Run({*program, run.command, std::nullopt}, {}, [&](uint32_t pid) { folder.Observe(pid); });
  if (!outcome) return std::unexpected(outcome.error());
  return outcome->ExitCode();
}

// Writes to each profile at the place what the kernel did in its calling contexts.
Result<void> WriteCounts(const fs::path& place, const ContextCounts& contexts) {
  for (const JvmProfile& profile : JvmProfilesAt(place)) {
    const std::vector<profile::KernelCounts> counts = contexts.Of(profile.pid);
    if (counts.empty()) continue;  // its contexts were not seen
    const std::string_view bytes(reinterpret_cast<const char*>(counts.data()),
                                 counts.size() * sizeof counts[0]);
    if (auto written = profile::WriteWholeFile(profile.path / profile::kKernelCountsFile, bytes);
        !written)
      return written;
  }
  return {};
}

}  // namespace

Result<EventFolder> EventFolder::Begin(const fs::path& place, KernelEventsOptions options,
                                       const std::string& library, const TraceLimit& limit) {
  if (!library.empty()) options.announcers.push_back(library);
  auto claim = PlaceClaim::Take(place);
  if (!claim) return std::unexpected(claim.error());
  // Programs that write events do so in this folder.
  const fs::path programs = fs::absolute(claim->folder()) / profile::kProgramsFolder;
  mkdir(programs.c_str(), kPrivateDirectory);
  setenv(kProgramsVariable, programs.c_str(), 1);
  const bool whole_machine = options.all_processes && options.system_calls;
  auto recording = KernelRecording::Begin(claim->folder(), options, limit);
  if (!recording) return std::unexpected(recording.error());
  if (Interruption::Number() != 0) return Fail("interrupted; nothing was started");
  EventFolder folder(place, *std::move(claim), *std::move(recording));
  folder.meta_.sampling = "events of the kernel";
  folder.meta_.whole_machine = whole_machine;
  return folder;
}

void EventFolder::SetProgram(uint32_t process) {
  meta_.process = process;
  recording_.AddTarget(process);
  recording_.RemoveSelf();
}

void EventFolder::Observe(uint32_t process) {
  if (meta_.process == 0) SetProgram(process);
  if (const int number = Interruption::TakeNumber(); number != 0)
    kill(static_cast<pid_t>(process), number);
}

Result<std::vector<std::string>> EventFolder::End(const std::string& command) {
  const KernelRecordingEnd end = recording_.End();
  failed_ = end.failed;
  meta_.notes = end.notes;
  meta_.command = command;
  const fs::path events = place_ / profile::kEventsFolder;
  std::error_code failed;
  if (mkdir(place_.c_str(), kPrivateDirectory) != 0 && errno != EEXIST)
    failed.assign(errno, std::generic_category());
  if (!failed) fs::create_directories(events, failed);
  const fs::path recorded = claim_.folder();
  const auto moved = claim_.MoveTo(events / profile::kKernelFolder);
  if (!failed) failed = moved;
  const fs::path programs = events / profile::kKernelFolder / profile::kProgramsFolder;
  if (rmdir(programs.c_str()) != 0 && errno == ENOTEMPTY)
    fs::rename(programs, events / profile::kProgramsFolder, failed);
  if (failed)
    return Fail("the events of the kernel are in {}: they cannot be moved to {}: {}",
                recorded.string(), events.string(), failed.message());
  if (auto written = profile::WriteWholeFile((events / profile::kRecordingFile).string(),
                                             profile::ToJson(meta_));
      !written)
    return std::unexpected(written.error());
  if (auto written = WriteCounts(place_, end.contexts); !written)
    return std::unexpected(written.error());
  std::vector<std::string> lines = end.notes;
  if (end.lost != 0)
    lines.push_back(
        fmt::format("{} of {} events of the kernel were lost: its buffers or the trace "
                    "were full",
                    end.lost, end.lost + end.records));
  lines.push_back(fmt::format("events:  {} of the kernel: jprof report timeline {}", end.records,
                              DisplayPath(place_)));
  return lines;
}

Result<int> RecordEvents(const EventRun& run) {
  if (!run.command.empty()) {
    if (const auto program = FindProgram(run.command.front()); !program)
      return std::unexpected(program.error());
  }
  Fd process;
  if (run.process != 0) {
    process.Reset(static_cast<int>(syscall(SYS_pidfd_open, run.process, 0)));
    if (!process) return NoProcess(run.process, errno);
  }
  const Interruption guard;
  auto folder = EventFolder::Begin(run.place, run.options, "", run.limit);
  if (!folder) return std::unexpected(folder.error());
  Result<int> status = 0;
  if (!run.command.empty()) {
    status = RunCommand(run, *folder);
  } else {
    if (run.process != 0) folder->SetProgram(run.process);
    if (run.seconds == 0 && isatty(STDERR_FILENO) != 0) PrintError("recording; Ctrl-C ends it");
    AwaitEnd(process.get(), run.seconds);
  }
  if (!status) return status;  // it could not be started
  const auto lines =
      folder->End(run.command.empty() ? run.title : fmt::format("{}", fmt::join(run.command, " ")));
  if (!lines) return std::unexpected(lines.error());
  for (const std::string& line : *lines) PrintError(line);
  return *status == 0 && folder->failed() ? 1 : *status;
}

}  // namespace jprof::record
