// Owns a folder for temporary files, and removes it with everything in it.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>
#include <system_error>

namespace jprof::record {

class TemporaryFolder {
 public:
  // Makes a folder NAME-XXXXXX in the directory of temporary files, readable by this user only.
  explicit TemporaryFolder(const std::string& name) {
    std::error_code failed;
    std::string made =
        (std::filesystem::absolute(std::filesystem::temp_directory_path(failed), failed) /
         (name + "-XXXXXX"))
            .string();
    if (mkdtemp(made.data()) != nullptr) path_ = made;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }  // empty if it could not be made

 private:
  std::filesystem::path path_;
};

}  // namespace jprof::record
