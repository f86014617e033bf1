// Implements the search of `jprof events` and `jprof metrics --events`.
#pragma once

#include <fnmatch.h>

#include <string>

namespace jprof::cli {

// Returns whether a part of the text matches the pattern, in which * and ? are
// wildcards. Ignores case.
inline bool MatchesPattern(const std::string& text, const std::string& pattern) {
  return fnmatch(("*" + pattern + "*").c_str(), text.c_str(), FNM_CASEFOLD) == 0;
}

}  // namespace jprof::cli
