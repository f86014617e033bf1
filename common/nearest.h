// Finds the valid choice that is nearest to an invalid word, for error messages. Ignores case.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace jprof {

// Returns the Levenshtein distance, ignoring ASCII case.
int EditDistance(std::string_view a, std::string_view b);

// Returns the choice that begins with `word` (3 letters or more), else the one with the smallest
// distance (the first among equals). Returns nothing if even that one differs in more than half of
// the longer word (dashes do not count), because a suggestion would then be a guess.
std::optional<std::string_view> Nearest(std::string_view word,
                                        std::span<const std::string_view> choices);

}  // namespace jprof
