// The file recording.json: the description of a machine-wide recording (jprof tprof), and in the
// folder of events of what jprof timeline records.
// docs/PROFILE_FORMAT.md lists the fields.
#pragma once

#include <cstdint>
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
  uint64_t process = 0;            // the command's; 0 if there is none or it is not known
  bool whole_machine = false;      // system calls of all processes were recorded
  std::vector<std::string> notes;  // printed by the report
  bool operator==(const RecordingMeta&) const = default;
};

// Returns the text of recording.json. Bytes that are not UTF-8 are replaced.
std::string ToJson(const RecordingMeta& meta);

// Parses the output of ToJson. A field that is missing or has another type is empty. Returns
// nothing if the text is not a JSON object. Texts are printable (CleanText).
std::optional<RecordingMeta> ParseRecordingMeta(std::string_view text);

}  // namespace jprof::profile
