// A combined profile: several runs of one program, at least one of them counted and the others
// sampled. It is a directory with runs.json and one ordinary profile per run.
// docs/PROFILE_FORMAT.md lists the fields.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "profile/files/damage.h"
#include "profile/read/run_spreads.h"

namespace jprof::profile {

inline constexpr char kRunsFile[] = "runs.json";

// The names of the profiles' directories; `number` is from 1.
inline constexpr char kCountedProfile[] = "counted";
std::string CountedProfile(int number);  // the first one is kCountedProfile
std::string SampledProfile(int number);

// One run of the program.
struct Run {
  enum class Role { kCounted, kSampled };
  // States how the standard output compares with that of the first run. kUnknown is for the first
  // run itself, and for runs that were not compared.
  enum class Output { kUnknown, kEqual, kDiffers };

  Role role = Role::kCounted;
  std::string profile;  // the name of the profile's directory inside the combined profile
  // The times of the program and its children; none if they are not known.
  std::optional<double> wall_seconds, cpu_seconds;
  std::optional<int> exit_status;  // as a shell reports it: 128 + signal
  Output output = Output::kUnknown;
  std::string output_note;  // why it was not compared: "a terminal"
  bool operator==(const Run&) const = default;
};

struct CombinedMeta {
  std::string jprof;  // version of the writer
  std::string start;  // ISO 8601, UTC
  std::string from;   // "profile" or "combine": the command that made it
  std::vector<std::string> command;
  std::vector<std::string> notes;  // about the profiles, printed by the report
  std::vector<Run> runs;           // in the order in which they ran
  RunSpreads usual;                // how much runs differed in earlier profiles
  bool operator==(const CombinedMeta&) const = default;
};

// Returns the text of runs.json. Bytes that are not UTF-8 are replaced.
std::string ToJson(const CombinedMeta& meta);

// Parses the output of ToJson or any other text. A field that is missing or has another type keeps
// its default. These are damages: text that is not a JSON object, another version of the format,
// and a run without a known role or whose profile is not the name of a directory inside the
// combined profile; such a run is left out. Texts are printable (CleanText).
CombinedMeta ParseCombined(std::string_view text, Damages& damages);

// Returns whether `directory` has a file runs.json.
bool IsCombined(const std::filesystem::path& directory);

// Reads runs.json. Fails if it cannot be read or is damaged; the message names the file.
Result<CombinedMeta> ReadCombined(const std::filesystem::path& directory);

}  // namespace jprof::profile
