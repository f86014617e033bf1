// Programs that run on the C library musl (Alpine), which cannot load the agent: it needs glibc.
#pragma once

#include <filesystem>
#include <string_view>

namespace jprof::record {

inline constexpr char kNeedsGlibc[] =
    "jprof's agent needs glibc; use a JDK for glibc (in a container: an image based on Debian, "
    "Ubuntu or Red Hat instead of Alpine)";

// Whether a mapped file is musl: its dynamic linker, which is also the C library.
bool IsMusl(std::string_view path);

// Whether the program asks for the dynamic linker of musl. False if the file cannot be read.
bool NeedsMusl(const std::filesystem::path& program);

}  // namespace jprof::record
