// Preloads libjprof-pages.so into a program, which then logs where its large blocks of memory are
// (docs/OPTIMISE.md). Preloading takes two steps, because the folder of the logs may not exist yet
// when the launch is planned.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "common/result.h"
#include "record/run/java_command.h"

namespace jprof::record {

inline constexpr char kPagesLibrary[] = "libjprof-pages.so";

// Fails, with the reason, if the library is missing or the program cannot be preloaded with it. A
// setuid program passes: that the dynamic linker does not preload it shows only in what it logs.
Result<void> CheckPagesLibrary(const std::filesystem::path& program);

// Makes the program load the library and read its plan from `folder`, which is absolute.
void PreloadPagesLibrary(const std::filesystem::path& folder, Launch& launch);

// Writes the plan: the logs of the program's processes go to `folder`, which exists. `directives`
// are further lines.
Result<void> WritePagesPlan(const std::filesystem::path& folder, std::string_view directives = {});
std::filesystem::path PagesPlan(const std::filesystem::path& folder);

// Puts a value in front of what a variable of the program's environment would have.
void AddInFront(const std::string& name, const std::string& value, char separator, Launch& launch);

}  // namespace jprof::record
