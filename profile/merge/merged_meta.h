// The file merged.json: the inputs of a merged profile. docs/PROFILE_FORMAT.md lists the fields.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profile/files/damage.h"

namespace jprof::profile {

class Reader;

// One profile that was merged.
struct MergedInput {
  std::string path;  // as given
  std::vector<std::string> command;
  uint64_t pid = 0;
  std::string start;  // ISO 8601, UTC
  bool finished = false;
  double cpu_seconds = 0;            // of the recorded threads
  uint64_t calls = 0;                // entries in all contexts
  std::vector<std::string> damages;  // found when it was read
  bool operator==(const MergedInput&) const = default;
};

struct MergedMeta {
  std::string threads;               // by-name, keep or merge
  std::vector<MergedInput> inputs;   // in the order given: input 1 is the first
  std::vector<std::string> notices;  // about the merged profile, printed by the report
  bool operator==(const MergedMeta&) const = default;
};

// Returns the text of merged.json. Bytes that are not UTF-8 are replaced.
std::string ToJson(const MergedMeta& meta);

// Parses the output of ToJson or any other text. A field that is missing or has another type keeps
// its default. Text that is not a JSON object is reported as damage. Texts are printable.
MergedMeta ParseMerged(std::string_view text, Damages& damages);

// Reads merged.json of an open profile. Returns nothing if the profile was not merged.
std::optional<MergedMeta> ReadMerged(Reader& reader);

}  // namespace jprof::profile
