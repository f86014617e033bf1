#include "common/nearest.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace jprof {
namespace {

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

// Returns the length without the dashes of an option, which all options have in common.
int Letters(std::string_view word) {
  return static_cast<int>(std::ranges::count_if(word, [](char c) { return c != '-'; }));
}

bool Begins(std::string_view word, std::string_view choice) {
  return Letters(word) >= 3 && word.size() <= choice.size() &&
         EditDistance(word, choice.substr(0, word.size())) == 0;
}

}  // namespace

int EditDistance(std::string_view a, std::string_view b) {
  std::vector<int> row(b.size() +
                       1);  // distances of the prefixes of b to the prefix of a seen so far
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 0; i < a.size(); ++i) {
    int diagonal = row[0];
    row[0] = static_cast<int>(i) + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const int replaced = diagonal + (Lower(a[i]) != Lower(b[j]));
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

std::optional<std::string_view> Nearest(std::string_view word,
                                        std::span<const std::string_view> choices) {
  if (const auto begun =
          std::ranges::find_if(choices, [&](auto choice) { return Begins(word, choice); });
      begun != choices.end()) {
    return *begun;
  }
  std::optional<std::string_view> best;
  int least = 0;
  for (std::string_view choice : choices) {
    const int distance = EditDistance(word, choice);
    if (best && distance >= least) continue;
    best = choice;
    least = distance;
  }
  if (best && least * 2 > std::max(Letters(word), Letters(*best))) return std::nullopt;
  return best;
}

}  // namespace jprof
