// Parses process ids of the command line.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>

#include "common/result.h"

namespace jprof::cli {

// Parses a process id. Fails with kWrongUse if it is none; the message names `list`, the command
// that lists the processes in question.
inline Result<uint32_t> ParsePid(const std::string& text, const char* list) {
  int32_t pid = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, pid);
  if (error == std::errc() && rest == end && pid > 0) return static_cast<uint32_t>(pid);
  return WrongUse("'{}' is not a process id; `{}` lists them", text, list);
}

}  // namespace jprof::cli
