// Finds the text of source files in directories and archives.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/result.h"
#include "model/lines/line_sums.h"
#include "profile/files/meta.h"

namespace jprof::reports {

// Returns where the sources of a recorded program are likely to be: its working directory with the
// usual folders of sources, its class path with the archives of sources beside it (x-sources.jar),
// and the archive of its JDK (src.zip). Some of these may not exist.
std::vector<std::string> UsualSourcePath(const profile::Meta& meta);

class SourceFiles {
 public:
  // Searches these directories and archives (zip, jar), the first one first. What cannot be read is
  // skipped.
  explicit SourceFiles(std::vector<std::string> path);
  ~SourceFiles();
  SourceFiles(const SourceFiles&) = delete;
  SourceFiles& operator=(const SourceFiles&) = delete;

  // Returns a line, counted from 1, of the source file of a class such as pkg/Class, without the
  // blanks around it. Returns an empty text if there is no such file or line. Files that are
  // larger than a few MiB are not read.
  std::string_view Line(std::string_view class_name, std::string_view file, uint32_t line);
  // Returns the line of a method. If its file is not known, it is that of its class by convention.
  std::string_view Line(const model::MethodLines& method, uint32_t line);

 private:
  class Archive;
  using Lines = std::vector<std::string>;

  const Lines& LinesOf(const std::string& name);

  std::vector<std::string> directories_;  // empty text: the place of the next archive
  std::vector<std::unique_ptr<Archive>> archives_;
  std::unordered_map<std::string, Lines> files_;  // by package/file
};

// Returns the parts of a path that are separated by colons. Fails if one of them does not exist.
Result<std::vector<std::string>> ParseSourcePath(std::string_view path);

}  // namespace jprof::reports
