// recording.json: the description of a machine-wide recording (jprof tprof). docs/PROFILE_FORMAT.md
// lists the fields.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace jprof::profile {

inline constexpr char kRecordingFile[] = "recording.json";

struct RecordingMeta {
  std::string sampling;  // "time, 100 samples/s on each CPU"
  std::string platform;  // kernel and architecture
  std::string command;
  std::vector<std::string> notes;  // what the report prints with it
  bool operator==(const RecordingMeta&) const = default;
};

// The text of recording.json. Bytes that are not UTF-8 are replaced.
std::string ToJson(const RecordingMeta& meta);

// Reads what ToJson wrote; a field that is missing or of another type is empty. Nothing if the text
// is not a JSON object. Texts are fit to print (CleanText).
std::optional<RecordingMeta> ParseRecordingMeta(std::string_view text);

}  // namespace jprof::profile
