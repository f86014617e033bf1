// Records kernel events for a profile: to a folder beside it, because the agent makes the profile's
// directory, and at the end to its folder `events`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "common/result.h"
#include "profile/files/recording_meta.h"
#include "record/kernel/kernel_recording.h"

namespace jprof::record {

class EventFolder {
 public:
  // Begins to record. Calling contexts are those of processes with the agent `library`.
  static Result<EventFolder> Begin(const std::filesystem::path& place, KernelEventsOptions options,
                                   const std::string& library, const TraceLimit& limit = {});

  EventFolder(EventFolder&& other) noexcept
      : place_(std::move(other.place_)),
        beside_(std::exchange(other.beside_, {})),
        recording_(std::move(other.recording_)),
        meta_(std::move(other.meta_)),
        failed_(other.failed_) {}
  EventFolder& operator=(EventFolder&&) = delete;
  // Removes what was recorded, unless End has moved it.
  ~EventFolder();

  // Names the program; its process and those that it makes are the targets from now on.
  void SetProgram(uint32_t process);
  // Returns whether a part could not be written, once it has ended.
  bool failed() const { return failed_; }
  bool has_program() const { return meta_.process != 0; }

  // Ends the recording and moves it into the place, which is made if it does not exist. Returns
  // what to print: what was recorded and what was lost. Fails if it cannot be moved; the message
  // says where it is.
  Result<std::vector<std::string>> End(const std::string& command);

 private:
  EventFolder(std::filesystem::path place, std::filesystem::path beside, KernelRecording recording)
      : place_(std::move(place)), beside_(std::move(beside)), recording_(std::move(recording)) {}

  std::filesystem::path place_, beside_;  // the latter is empty once it is the place's
  KernelRecording recording_;
  profile::RecordingMeta meta_;
  bool failed_ = false;
};

// What `jprof system-trace` and, for programs that are not counted, `jprof timeline` record.
struct EventRun {
  std::filesystem::path place;  // PreparePlace
  KernelEventsOptions options;
  TraceLimit limit;
  std::vector<std::string> command;  // empty: what runs already
  std::string title;                 // of what runs already
  uint32_t process = 0;              // the only one whose system calls are recorded; 0: none
  uint64_t seconds = 0;              // 0: until the end of the command or the process, or a signal
};

// Records without an agent. Prints what was recorded. Returns the exit status of the command, or 0.
Result<int> RecordEvents(const EventRun& run);

}  // namespace jprof::record
