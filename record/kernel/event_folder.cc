#include "record/kernel/event_folder.h"

#include <fmt/ranges.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

#include "common/errno_text.h"
#include "common/monotonic.h"
#include "common/private_file.h"
#include "profile/files/whole_file.h"
#include "record/place/jvm_profiles.h"
#include "record/place/recording_summary.h"
#include "record/run/interruption.h"
#include "record/run/launcher.h"
#include "record/run/print_error.h"

namespace jprof::record {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kNanos = 1'000'000'000;
constexpr char kPrograms[] = "programs";
constexpr char kProgramsVariable[] = "JPROF_EVENTS_FOLDER";  // events/runtime

bool Exists(uint32_t process) {
  return kill(static_cast<pid_t>(process), 0) == 0 || errno == EPERM;
}

// Waits for the end of the time or of the process, or for a signal to this process.
void Await(const EventRun& run) {
  const Interruption guard;
  if (run.seconds == 0 && isatty(STDERR_FILENO) != 0) PrintError("recording; Ctrl-C ends it");
  const int64_t end = MonotonicNanos() + static_cast<int64_t>(run.seconds) * kNanos;
  while (Interruption::Number() == 0 && (run.seconds == 0 || MonotonicNanos() < end) &&
         (run.process == 0 || Exists(run.process)))
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

Result<int> RunCommand(const EventRun& run, EventFolder& folder) {
  const auto program = FindProgram(run.command.front());
  if (!program) return std::unexpected(program.error());
  const auto outcome = Run({*program, run.command, std::nullopt}, {}, [&](uint32_t pid) {
    if (!folder.has_program()) folder.SetProgram(pid);
  });
  if (!outcome) return std::unexpected(outcome.error());
  return outcome->ExitCode();
}

// Writes to each profile at the place what the kernel did in its calling contexts.
Result<void> WriteCounts(const fs::path& place, const ContextCounts& contexts) {
  for (const JvmProfile& profile : JvmProfilesAt(place)) {
    const std::vector<profile::KernelCounts> counts = contexts.Of(profile.pid);
    const std::string_view bytes(reinterpret_cast<const char*>(counts.data()),
                                 counts.size() * sizeof counts[0]);
    if (auto written = profile::WriteWholeFile((profile.path / profile::kKernelCountsFile).string(),
                                               std::string(bytes));
        !written)
      return written;
  }
  return {};
}

}  // namespace

Result<EventFolder> EventFolder::Begin(const fs::path& place, KernelEventsOptions options,
                                       const std::string& library, const TraceLimit& limit) {
  if (!library.empty()) options.announcers.push_back(library);
  const fs::path beside = fmt::format("{}.events-{}", place.string(), getpid());
  if (mkdir(beside.c_str(), kPrivateDirectory) != 0) {
    return WrongUse("cannot make {}: {}; choose another directory with -o; nothing was started",
                    beside.string(), ErrnoText());
  }
  // Programs that write events do so in this folder.
  const fs::path programs = fs::absolute(beside) / kPrograms;
  mkdir(programs.c_str(), kPrivateDirectory);
  setenv(kProgramsVariable, programs.c_str(), 1);
  const bool whole_machine = options.all_processes && options.system_calls;
  auto recording = KernelRecording::Begin(beside, options, limit);
  if (!recording) {
    std::error_code ignored;
    fs::remove_all(beside, ignored);
    return std::unexpected(recording.error());
  }
  EventFolder folder(place, beside, *std::move(recording));
  folder.meta_.sampling = "events of the kernel";
  folder.meta_.whole_machine = whole_machine;
  return folder;
}

EventFolder::~EventFolder() {
  std::error_code ignored;
  if (!beside_.empty()) fs::remove_all(beside_, ignored);
}

void EventFolder::SetProgram(uint32_t process) {
  meta_.process = process;
  recording_.AddTarget(process);
  recording_.RemoveSelf();
}

Result<std::vector<std::string>> EventFolder::End(const std::string& command) {
  const KernelRecordingEnd end = recording_.End();
  failed_ = end.failed;
  meta_.notes = end.notes;
  meta_.command = command;
  const fs::path events = place_ / "events";
  std::error_code failed;
  if (mkdir(place_.c_str(), kPrivateDirectory) != 0 && errno != EEXIST)
    failed.assign(errno, std::generic_category());
  if (!failed) fs::create_directories(events, failed);
  if (!failed) fs::rename(beside_, events / "kernel", failed);
  const fs::path beside = std::exchange(beside_, {});
  std::error_code none;
  if (!failed && !fs::remove(events / "kernel" / kPrograms, none))  // it is empty
    fs::rename(events / "kernel" / kPrograms, place_ / profile::kProgramEvents, failed);
  if (failed)
    return Fail("the events of the kernel are in {}: they cannot be moved to {}: {}",
                beside.string(), events.string(), failed.message());
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
  auto folder = EventFolder::Begin(run.place, run.options, "", run.limit);
  if (!folder) return std::unexpected(folder.error());
  Result<int> status = 0;
  if (!run.command.empty()) {
    status = RunCommand(run, *folder);
  } else {
    if (run.process != 0) folder->SetProgram(run.process);
    Await(run);
  }
  if (!status) return status;  // it could not be started
  const auto lines =
      folder->End(run.command.empty() ? run.title : fmt::format("{}", fmt::join(run.command, " ")));
  if (!lines) return std::unexpected(lines.error());
  for (const std::string& line : *lines) PrintError(line);
  return *status == 0 && folder->failed() ? 1 : *status;
}

}  // namespace jprof::record
