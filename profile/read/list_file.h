// The file of a directory of profiles that lists them: runs.json of a combined profile, scale.json
// of a result of `jprof scale`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "common/result.h"
#include "profile/files/damage.h"

namespace jprof::profile {

// Says how messages about a directory without such a file end.
struct ListFileHelp {
  std::string_view name;       // of the file
  std::string_view directory;  // "a combined profile": what to give instead
  std::string_view make;       // how to make one
};

// Reads the file of at most 1 MiB. Fails with kWrongUse if the directory cannot be opened, or has
// no such file.
Result<std::string> ReadListFile(const std::filesystem::path& directory, const ListFileHelp& help);

// Parses a JSON object whose field "format" is `format`. Another format is a damage; the fields of
// such an object can be read nevertheless. If the text is no JSON object, that is a damage, too,
// and the returned value is none.
nlohmann::json ParseListFile(std::string_view text, uint64_t format, Damages& damages);

}  // namespace jprof::profile
