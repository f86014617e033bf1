// Records kernel events to a trace while a program runs.
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "common/result.h"
#include "record/kernel/context_counts.h"
#include "record/kernel/kernel_events.h"
#include "record/kernel/packet_writer.h"

namespace jprof::record {

// What was recorded.
struct KernelRecordingEnd {
  uint64_t records = 0;
  uint64_t lost = 0;               // found no room in the kernel's buffers, or could not be written
  bool failed = false;             // a file could not be written
  ContextCounts contexts{0};       // what the kernel did in the contexts of counted processes
  std::vector<std::string> notes;  // for the user
};

class KernelRecording {
 public:
  // Begins to record to `directory`, which is made. This process is a target until RemoveSelf is
  // called, so that a child which it makes is one from its first instruction on.
  static Result<KernelRecording> Begin(const std::filesystem::path& directory,
                                       const KernelEventsOptions& options,
                                       const TraceLimit& limit = {});
  KernelRecording(KernelRecording&&) noexcept;
  KernelRecording& operator=(KernelRecording&&) noexcept;
  ~KernelRecording();

  void AddTarget(uint32_t process);
  // Ends that this process is a target.
  void RemoveSelf();

  // Ends the recording and completes the trace.
  KernelRecordingEnd End();

 private:
  struct State;
  explicit KernelRecording(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace jprof::record
