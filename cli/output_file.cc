#include "cli/output_file.h"

#include <unistd.h>

#include <filesystem>

namespace jprof::cli {

namespace fs = std::filesystem;

Result<void> WriteOutputFile(const std::string& path,
                             const std::function<Result<void>(const std::string& path)>& write) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status))
    return WrongUse("{} is a directory; name a file in it with -o", path);
  const bool replace = !fs::exists(status) || fs::is_regular_file(status);
  if (!replace) return write(path);
  const std::string part = fmt::format("{}.{}.part", path, getpid());
  fs::remove(part, error);
  auto written = write(part);
  if (written) {
    fs::rename(part, path, error);
    if (error)
      written = Fail("cannot write {}: {}; choose another file with -o", path, error.message());
  }
  if (!written) fs::remove(part, error);
  return written;
}

}  // namespace jprof::cli
