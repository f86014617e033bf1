#include "model/events/recorded_events.h"

#include <algorithm>

#include "events/read/file_bytes.h"
#include "profile/files/layout.h"
#include "profile/files/printable_text.h"

namespace jprof::model {
namespace {

namespace fs = std::filesystem;

bool IsProfile(const fs::path& directory) {
  std::error_code ignored;
  return fs::is_regular_file(directory / profile::kControlFile, ignored);
}

// Adds to the damages if the file is missing or damaged.
profile::RecordingMeta ReadMeta(const fs::path& directory, std::vector<std::string>& damages) {
  constexpr uint64_t kMostBytes = 1 << 20;
  const std::string path = directory / "events" / profile::kRecordingFile;
  auto meta = profile::ParseRecordingMeta(events::ReadBytes(path, kMostBytes));
  if (!meta)
    damages.push_back(path + ": cannot be read: which threads are the program's is not known");
  return meta.value_or(profile::RecordingMeta());
}

Result<RecordedEvents> Load(const std::string& directory, auto& sources) {
  if (!HasKernelEvents(directory)) {
    return WrongUse("{} has no events of the kernel; record them with: jprof timeline -- CMD...",
                    profile::CleanText(directory));
  }
  auto stretches = LoadStretches(directory);
  if (!stretches) return std::unexpected(stretches.error());
  RecordedEvents events = {.directory = directory,
                           .meta = {},
                           .stretches = *std::move(stretches),
                           .names = {},
                           .jvms = {}};
  events.meta = ReadMeta(directory, events.stretches.damages);
  for (Source& source : sources) {
    events.names.Add(source);
    const auto process = static_cast<uint32_t>(source.reader.meta().pid);
    JvmEvents jvm = LoadJvmEvents(source.reader.directory(), events.stretches.start_unix_ns);
    auto& damages = events.stretches.damages;
    damages.insert(damages.end(), jvm.damages.begin(), jvm.damages.end());
    events.jvms.emplace(process, std::move(jvm));
  }
  for (StretchThread& thread : events.stretches.threads) {
    const std::string name = events.names.ThreadName(thread.process, thread.thread);
    if (!name.empty()) thread.name = name;  // the kernel's has 15 bytes
  }
  events.marks = LoadMarks(directory, events.stretches, events.stretches.damages);
  return events;
}

}  // namespace

bool IsEventRecording(const fs::path& directory) {
  return HasKernelEvents(directory.string()) && !IsProfile(directory);
}

Result<EventRecording> OpenEventRecording(const std::string& directory) {
  EventRecording recording = {.directory = directory, .profiles = {}};
  std::error_code failed;
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(directory, failed)) paths.push_back(entry.path());
  if (failed) return Fail("cannot read {}: {}", profile::CleanText(directory), failed.message());
  std::ranges::sort(paths);
  for (const fs::path& path : paths) {
    if (!IsProfile(path)) continue;
    if (auto reader = profile::Reader::Open(path.string()))
      recording.profiles.push_back(Source{.reader = *std::move(reader)});
  }
  return recording;
}

std::string RecordedEvents::ThreadName(uint32_t thread) const {
  if (thread == kInterrupt) return "an interrupt";
  if (thread >= stretches.threads.size()) return "";
  const StretchThread& row = stretches.threads[thread];
  return !row.name.empty() ? row.name : fmt::format("thread {}", row.thread);
}

Result<RecordedEvents> LoadEvents(Source& source) {
  std::span<Source> sources(&source, 1);
  return Load(source.reader.directory(), sources);
}

Result<RecordedEvents> LoadEvents(EventRecording& recording) {
  return Load(recording.directory, recording.profiles);
}

}  // namespace jprof::model
