// A directory for the files of one test.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>

namespace jprof {

class TemporaryDirectory {
 public:
  // Makes a directory whose name begins with jprof- and `name`.
  explicit TemporaryDirectory(const std::string& name) {
    std::string made =
        (std::filesystem::temp_directory_path() / ("jprof-" + name + "-XXXXXX")).string();
    path_ = mkdtemp(made.data());
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  // Removes it with all that is in it.
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace jprof
