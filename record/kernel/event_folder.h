// Records kernel events for a profile: to the folder beside it that claims its place, because the
// agent makes the profile's directory, and at the end to its folder `events`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "common/result.h"
#include "profile/files/recording_meta.h"
#include "record/kernel/kernel_recording.h"
#include "record/place/place_claim.h"

namespace jprof::record {

// Removes what was recorded when it is destroyed, unless End has moved it.
class EventFolder {
 public:
  // Begins to record. Requires an absolute path and an Interruption, so that no signal ends this
  // process with the folder beside the place. Fails if one came meanwhile. Calling contexts are
  // those of processes with the agent `library`.
  static Result<EventFolder> Begin(const std::filesystem::path& place, KernelEventsOptions options,
                                   const std::string& library, const TraceLimit& limit = {});

  // Names the program; its process and those that it makes are the targets from now on.
  void SetProgram(uint32_t process);
  // Does the same at the first call, and passes a signal on that came before the program could get
  // it. Is called while the program runs.
  void Observe(uint32_t process);
  // Returns whether a part could not be written, once it has ended.
  bool failed() const { return failed_; }

  // Ends the recording and moves it into the place, which is made if it does not exist. Returns
  // what to print: what was recorded and what was lost. Fails if it cannot be moved; the message
  // says where it is.
  Result<std::vector<std::string>> End(const std::string& command);

 private:
  EventFolder(std::filesystem::path place, PlaceClaim claim, KernelRecording recording)
      : place_(std::move(place)), claim_(std::move(claim)), recording_(std::move(recording)) {}

  std::filesystem::path place_;
  PlaceClaim claim_;
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
