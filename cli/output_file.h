// Writes the file that -o names.
#pragma once

#include <functional>
#include <string>

#include "common/result.h"

namespace jprof::cli {

// Calls `write` with a path to write to, and renames that file to `path` if it succeeds: a file is
// complete, or it is as it was. What is no file (a pipe, a device) is written directly and never
// removed. Error: `path` is a directory, or cannot be written, or the error of `write`.
Result<void> WriteOutputFile(const std::string& path,
                             const std::function<Result<void>(const std::string& path)>& write);

}  // namespace jprof::cli
