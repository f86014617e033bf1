// Formats a moment as text: ISO 8601 in UTC, to the second.
#pragma once

#include <ctime>
#include <string>

namespace jprof {

// Formats a moment given in seconds since 1970.
inline std::string UtcText(std::time_t seconds) {
  std::tm utc = {};
  gmtime_r(&seconds, &utc);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

}  // namespace jprof
