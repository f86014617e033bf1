// The nearest valid choice to a word that is none: for error messages. Case does not count.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace jprof {

// Levenshtein distance, ignoring ASCII case.
int EditDistance(std::string_view a, std::string_view b);

// The choice that `word` begins (3 letters or more), else the one with the least distance (the
// first of equals), or nothing if even that one differs in more than half of the longer word: then
// a suggestion would be a guess.
std::optional<std::string_view> Nearest(std::string_view word,
                                        std::span<const std::string_view> choices);

}  // namespace jprof
