// Names of files and folders that follow each other: a prefix, a number of at least six digits, and
// a suffix.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

namespace jprof::profile {

struct NumberedNames {
  std::string_view prefix, suffix;

  // Returns "trace-000042.zst". Names sort as their numbers do, up to 999999.
  std::string Of(uint64_t number) const {
    std::string digits = std::to_string(number);
    if (digits.size() < 6) digits.insert(0, 6 - digits.size(), '0');
    return std::string(prefix) + digits + std::string(suffix);
  }

  // Returns the number in the name, or 0 if it is no such name.
  uint64_t NumberIn(std::string_view name) const {
    if (!name.starts_with(prefix) || !name.ends_with(suffix)) return 0;
    if (name.size() < prefix.size() + suffix.size()) return 0;
    const std::string_view digits =
        name.substr(prefix.size(), name.size() - prefix.size() - suffix.size());
    uint64_t number = 0;
    const auto [end, problem] =
        std::from_chars(digits.data(), digits.data() + digits.size(), number);
    return problem == std::errc() && Of(number) == name ? number : 0;
  }
};

// The files of a continuous trace that begins a new one from time to time (--rotate).
inline constexpr NumberedNames kTraceFiles = {.prefix = "trace-", .suffix = ".zst"};

}  // namespace jprof::profile
