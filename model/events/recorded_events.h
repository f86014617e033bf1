// Opens what `jprof timeline` and `jprof system-trace` record: a folder of events beside the
// profiles of the processes that were counted meanwhile.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/result.h"
#include "model/events/context_names.h"
#include "model/events/jvm_events.h"
#include "model/events/marks.h"
#include "model/events/stretches.h"
#include "model/tree/source.h"
#include "profile/files/recording_meta.h"

namespace jprof::model {

// A directory with events that is no profile itself. It may have profiles of several processes.
struct EventRecording {
  std::string directory;
  std::vector<Source> profiles;
  std::vector<std::string> damages;       // profiles that cannot be read
  std::vector<std::string> event_losses;  // RecordedEvents::Losses, once LoadEvents was called
};

// Returns whether the directory is one.
bool IsEventRecording(const std::filesystem::path& directory);
// Profiles that cannot be read are left out, and are in the damages.
Result<EventRecording> OpenEventRecording(const std::string& directory);

struct RecordedEvents {
  std::string directory;
  profile::RecordingMeta meta;
  Stretches stretches;
  ContextNames names;
  std::map<uint32_t, JvmEvents> jvms;  // by process
  std::vector<Mark> marks = {};
  // What could not be read of the profiles, which name the calling contexts.
  std::vector<std::string> profile_damages;

  // Returns what is missing, for the user.
  std::vector<std::string> Losses() const;
  // Returns the name of a thread, or of what woke one, for people.
  std::string ThreadName(uint32_t thread) const;
};

// Loads the events, which refer to the profiles; what is missing becomes their event_losses. Fails
// with kWrongUse if there are none.
Result<RecordedEvents> LoadEvents(Source& source);
Result<RecordedEvents> LoadEvents(EventRecording& recording);

}  // namespace jprof::model
