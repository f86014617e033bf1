// Opens the directories that jprof records and makes. This is the only interface to them: whoever
// reads profiles asks here what a directory is, and gets what it holds. A new kind is an
// enumerator, an alternative of Input and a row of kKinds.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "common/result.h"
#include "model/combined/combined.h"
#include "model/events/recorded_events.h"
#include "model/itrace/arc_recording.h"
#include "model/scale/scale.h"
#include "model/ticks/recording.h"
#include "model/timeline/timeline.h"
#include "model/tree/context_tree.h"
#include "model/tree/source.h"
#include "profile/read/combined.h"
#include "profile/read/scale_meta.h"

namespace jprof::model {

// Names the kinds of directories, in the order of Input's alternatives.
enum class InputKind : uint8_t { kProfile, kCombined, kTicks, kTrace, kEvents, kScale };

// Owns what was opened.
using Input = std::variant<Source, Combined, Recording, ArcRecording, EventRecording, Scale>;

// Returns what the directory holds, by its files; kProfile also if it holds nothing that is known.
InputKind KindOf(const std::filesystem::path& directory);

// Returns "a combined profile", "a trace of jprof itrace".
std::string_view NameOf(InputKind kind);

inline InputKind KindOf(const Input& input) { return static_cast<InputKind>(input.index()); }
std::string_view DirectoryOf(const Input& input);
// Returns what the directory is called in what is printed (profile/read/shown_name.h).
std::string_view ShownNameOf(const Input& input);

// States which calibration table to use. Without a file, the profile's own table is used, else the
// user's table that fits, else none.
struct TableChoice {
  std::string file;           // --table
  bool uncalibrated = false;  // do not subtract the profiler's overhead
  std::string window;         // --window: only this part of the recording; empty if not given
  bool force = false;         // use the file even if it was made for another machine or JVM
  bool as_trained = false;    // --refit no: use its costs as they are
  // Returns one of the profiles that a directory has of several JVMs, or the directory itself if it
  // is one profile. Null if it must be one.
  std::string (*one_of_several)(const std::string& directory) = nullptr;
};

// Opens the directory as what it is. Fails if a file cannot be read or if the table does not fit;
// the message is for people.
Result<Input> Open(const std::string& directory, const TableChoice& choice);
// Opens the directory as one of this kind; the error states why it is none.
Result<Input> Open(const std::string& directory, InputKind kind, const TableChoice& choice);

// Opens one profile.
Result<Source> OpenSource(const std::string& directory, const TableChoice& choice);

// Opens a combined profile. Fails if it has no counted or no sampled run, or if one cannot be
// opened.
Result<Combined> OpenCombined(const std::string& directory, const TableChoice& choice);

// Opens a result of jprof scale. Fails if the profile of a size cannot be opened.
Result<Scale> OpenScale(const std::string& directory, const TableChoice& choice);

// Returns the directory of the counted run of a combined profile. Fails if runs.json is damaged or
// names none.
Result<std::string> CountedRun(const std::string& directory);

// Returns the runs of a combined profile as paths: "app.jprof/counted, app.jprof/sampled-1".
// Returns an empty text if its runs.json cannot be read.
std::string RunPaths(const std::string& directory);

// Describes a kind of directory: how to recognise it, what it is called, and how it is opened.
struct KindRow {
  InputKind kind;
  std::string_view name;
  bool (*is)(const std::filesystem::path& directory);  // null: whatever no other row recognises
  Result<Input> (*open)(const std::string& directory, const TableChoice& choice);
};

// Adapts the function that opens a kind to the function of a row.
template <auto kOpen>
Result<Input> As(const std::string& directory, const TableChoice& choice) {
  auto opened = [&] {
    if constexpr (requires { kOpen(directory, choice); }) {
      return kOpen(directory, choice);
    } else {
      return kOpen(directory);
    }
  }();
  if (!opened) return std::unexpected(opened.error());
  return *std::move(opened);
}

// The first row that recognises a directory is right: a trace has the files of ticks, too.
inline constexpr KindRow kKinds[] = {
    {InputKind::kTrace, "a trace of jprof itrace", IsArcRecording, As<OpenArcRecording>},
    {InputKind::kTicks, "a recording of jprof tprof", IsRecording, As<OpenRecording>},
    {InputKind::kEvents, "a recording of jprof timeline", IsEventRecording, As<OpenEventRecording>},
    {InputKind::kScale, "a result of jprof scale", profile::IsScale, As<OpenScale>},
    {InputKind::kCombined, "a combined profile", profile::IsCombined, As<OpenCombined>},
    {InputKind::kProfile, "a profile", nullptr, As<OpenSource>},
};

// Returns whether events of the kernel were recorded beside it.
bool HasEvents(const Input& input);
// Loads these events, which refer to `input`. Fails with kWrongUse if there are none.
Result<RecordedEvents> LoadEvents(Input& input);

// Returns what was missing in the events when they were loaded, for the user.
std::vector<std::string> EventLosses(const Input& input);

// Returns whether the kind of recording has a tree of calls.
bool HasContexts(const Input& input);
// Returns the contexts of what was opened. Fails if it has none, or none with these options.
Result<ContextTree> LoadContexts(Input& input, const ForestOptions& options);

// Returns whether the kind of recording has points in time.
bool HasTimeline(const Input& input);
// Returns what happened when. The timeline refers to `input`. Fails if it has no points in time.
Result<std::unique_ptr<Timeline>> OpenTimeline(Input& input);

}  // namespace jprof::model
