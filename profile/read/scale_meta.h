// A result of `jprof scale`: runs of one program with inputs of several sizes. It is a directory
// with scale.json and one combined profile for each size, whose sampled runs may be missing.
// docs/PROFILE_FORMAT.md lists the fields.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "profile/files/damage.h"

namespace jprof::profile {

inline constexpr char kScaleFile[] = "scale.json";

// Returns the name of the directory of a size's profile: "n1000".
std::string SizeProfile(uint64_t size);
// Returns whether it is such a name.
bool IsSizeProfile(std::string_view name);

struct ScaleMeta {
  std::string jprof;                 // version of the writer
  std::string start;                 // ISO 8601, UTC
  std::vector<std::string> command;  // as typed, with {n}
  std::vector<std::string> notes;    // printed by the report
  std::vector<uint64_t> sizes;       // increasing
  bool operator==(const ScaleMeta&) const = default;
};

// Returns the text of scale.json. Bytes that are not UTF-8 are replaced.
std::string ToJson(const ScaleMeta& meta);

// Parses the output of ToJson or any other text, as ParseCombined does. A size that is not greater
// than the one before it is a damage, too, and is left out.
ScaleMeta ParseScale(std::string_view text, Damages& damages);

// Returns whether `directory` has a file scale.json.
bool IsScale(const std::filesystem::path& directory);

// Reads scale.json. Fails if it cannot be read, is damaged or has no size.
Result<ScaleMeta> ReadScale(const std::filesystem::path& directory);

}  // namespace jprof::profile
