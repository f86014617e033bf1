// The file imported.json: where the samples of a profile come from, if another profiler has taken
// them. docs/PROFILE_FORMAT.md lists the fields.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace jprof::profile {

inline constexpr char kImportedFile[] = "imported.json";

struct Imported {
  std::string format;   // jfr, pprof, ...
  std::string version;  // of the format, if the file says one
  std::string file, event;
  std::vector<std::string> notes;  // what the profile lacks, and what its values stand for
  bool operator==(const Imported&) const = default;

  // Returns "app.jfr: jfr 2.1, jdk.ExecutionSample".
  std::string Text() const;
};

// Returns the text of imported.json. Bytes that are not UTF-8 are replaced.
std::string ToJson(const Imported& imported);

// Parses the output of ToJson or any other text. A field that is missing or has another type keeps
// its default. Texts are printable.
Imported ParseImported(std::string_view text);

// Reads the file of a profile. Returns nothing if the profile was recorded by jprof.
std::optional<Imported> ReadImported(const std::string& directory);

}  // namespace jprof::profile
