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

// Returns whether the directory has a file of a profile, but not the one by which it is known.
bool IsProfileWithoutControl(const fs::path& directory) {
  std::error_code ignored;
  return !IsProfile(directory) && fs::exists(directory / profile::kMetaFile, ignored);
}

// Opens the profile in a directory, if there is one.
void AddProfile(const fs::path& directory, EventRecording& recording) {
  const auto add_damage = [&](std::string_view what) {
    recording.damages.push_back(fmt::format(
        "{}: {}: the calling contexts of its process have no names", directory.string(), what));
  };
  if (IsProfileWithoutControl(directory)) return add_damage("has no file 'control'");
  if (!IsProfile(directory)) return;
  if (auto reader = profile::Reader::Open(directory.string())) {
    recording.profiles.push_back(Source{.reader = *std::move(reader)});
  } else {
    add_damage(reader.error().message);
  }
}

// Adds what was damaged in a profile when its names were read.
void AddDamages(Source& source, std::vector<std::string>& damages) {
  const profile::Reader& reader = source.reader;
  const auto add = [&](std::string_view what) {
    damages.push_back(fmt::format("{}: {}", reader.shown(), what));
  };
  for (const std::string& line : reader.damages().Lines()) add(line);
  const uint64_t nodes = source.reader.OpenFile(profile::kNodesFile).size() / sizeof(profile::Node);
  if (nodes < reader.header().node_count)
    add(fmt::format("has {} of {} nodes: calling contexts have no names", nodes,
                    reader.header().node_count));
}

// Adds to the damages if the file is missing or damaged.
profile::RecordingMeta ReadMeta(const fs::path& directory, std::vector<std::string>& damages) {
  constexpr uint64_t kMostBytes = 1 << 20;
  const std::string path = directory / profile::kEventsFolder / profile::kRecordingFile;
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
                           .jvms = {},
                           .profile_damages = {}};
  events.meta = ReadMeta(directory, events.stretches.damages);
  for (Source& source : sources) {
    events.names.Add(source);
    AddDamages(source, events.profile_damages);
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
  EventRecording recording = {
      .directory = directory, .profiles = {}, .damages = {}, .event_losses = {}};
  std::error_code failed;
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(directory, failed)) paths.push_back(entry.path());
  if (failed) return Fail("cannot read {}: {}", profile::CleanText(directory), failed.message());
  std::ranges::sort(paths);
  AddProfile(directory, recording);
  for (const fs::path& path : paths) AddProfile(path, recording);
  return recording;
}

std::string RecordedEvents::ThreadName(uint32_t thread) const {
  if (thread == kInterrupt) return "an interrupt";
  if (thread >= stretches.threads.size()) return "";
  const StretchThread& row = stretches.threads[thread];
  return !row.name.empty() ? row.name : fmt::format("thread {}", row.thread);
}

std::vector<std::string> RecordedEvents::Losses() const {
  std::vector<std::string> losses;
  if (stretches.lost != 0)
    losses.push_back(fmt::format("{} events of the kernel were lost", stretches.lost));
  for (const auto* damages : {&stretches.damages, &profile_damages})
    losses.insert(losses.end(), damages->begin(), damages->end());
  return losses;
}

Result<RecordedEvents> LoadEvents(Source& source) {
  std::span<Source> sources(&source, 1);
  auto events = Load(source.reader.directory(), sources);
  if (events) source.event_losses = events->Losses();
  return events;
}

Result<RecordedEvents> LoadEvents(EventRecording& recording) {
  auto events = Load(recording.directory, recording.profiles);
  if (!events) return events;
  events->profile_damages.insert(events->profile_damages.begin(), recording.damages.begin(),
                                 recording.damages.end());
  recording.event_losses = events->Losses();
  return events;
}

}  // namespace jprof::model
