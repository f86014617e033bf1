// Recognises programs that run on the C library musl (Alpine). They cannot load the agent, which
// needs glibc.
#pragma once

#include <filesystem>
#include <string_view>

namespace jprof::record {

inline constexpr char kNeedsGlibc[] =
    "jprof's agent needs glibc; use a JDK for glibc (in a container: an image based on Debian, "
    "Ubuntu or Red Hat instead of Alpine)";

// Returns whether a mapped file is musl's dynamic linker, which is also its C library.
bool IsMusl(std::string_view path);

// Returns whether the program requests musl's dynamic linker; false if the file cannot be read.
bool NeedsMusl(const std::filesystem::path& program);

}  // namespace jprof::record
