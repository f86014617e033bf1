// How `jprof events` and `jprof metrics --events` search.
#pragma once

#include <fnmatch.h>

#include <string>

namespace jprof::cli {

// Whether the pattern, in which * and ? stand for anything, is a part of the text. Case does not
// count.
inline bool MatchesPattern(const std::string& text, const std::string& pattern) {
  return fnmatch(("*" + pattern + "*").c_str(), text.c_str(), FNM_CASEFOLD) == 0;
}

}  // namespace jprof::cli
