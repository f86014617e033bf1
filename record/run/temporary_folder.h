// Owns a folder for temporary files, and removes it with everything in it: also if SIGINT, SIGTERM,
// SIGHUP or SIGPIPE ends the program, unless that is handled or ignored.
#pragma once

#include <filesystem>
#include <string>

namespace jprof::record {

class TemporaryFolder {
 public:
  // Makes a folder NAME-XXXXXX in the directory of temporary files, readable by this user only.
  explicit TemporaryFolder(const std::string& name);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }  // empty if it could not be made

 private:
  std::filesystem::path path_;
};

}  // namespace jprof::record
