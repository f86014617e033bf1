// Writes the file that -o names.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <system_error>

#include "common/result.h"

namespace jprof::cli {

// Calls `write` with a path to write to, and renames that file to the target of `path` if it
// succeeds: a file is complete, or it is as it was, and keeps its permissions. What is no file (a
// pipe, a device) is written directly and never removed; a symbolic link stays. Nothing is left
// behind if `write` throws. Fails with kWrongUse if `path` is a directory, or if its folder is
// missing or cannot be written; otherwise with the error of `write`.
Result<void> WriteOutputFile(const std::string& path,
                             const std::function<Result<void>(const std::string& path)>& write);

// Does the same with a folder of events (record/place/profile_place.h), which replaces one that has
// nothing but such events. Fails with kWrongUse if anything else is at `path`.
Result<void> WriteEventFolder(const std::string& path,
                              const std::function<Result<void>(const std::string& path)>& write);

// Returns the bytes of a file, or of all files in a folder.
uintmax_t SizeOf(const std::string& path, std::error_code& error);

// Opens the path that WriteOutputFile calls `write` with, calls `print`, and closes it. A new file
// is created; a link in its place is not followed. Fails with kWrongUse if it cannot be opened,
// otherwise if it cannot be written, or with the error of `print`.
Result<void> PrintToNewFile(const std::string& path,
                            const std::function<Result<void>(std::FILE* file)>& print);

}  // namespace jprof::cli
