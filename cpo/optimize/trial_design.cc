#include "cpo/optimize/trial_design.h"

#include <algorithm>
#include <bit>

namespace jprof::cpo {

size_t ArmCount(size_t directives) {
  return directives < 2 ? 2 : 2 * std::bit_ceil(directives + 1);
}

std::vector<bool> ArmOf(size_t arm, size_t directives) {
  const size_t row = arm / 2;
  const bool is_complement = arm % 2 != 0;
  std::vector<bool> applied(directives);
  for (size_t i = 0; i < directives; ++i) {
    const bool is_on = std::popcount(row & (i + 1)) % 2 == 0;
    applied[i] = is_on != is_complement;
  }
  return applied;
}

size_t NextArm(const std::vector<std::vector<bool>>& runs, size_t directives) {
  std::vector<size_t> counts(ArmCount(directives));
  for (size_t arm = 0; arm < counts.size(); ++arm)
    counts[arm] = static_cast<size_t>(std::ranges::count(runs, ArmOf(arm, directives)));
  const size_t fewest = *std::ranges::min_element(counts);
  const bool is_reversed = fewest % 2 != 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    const size_t arm = is_reversed ? counts.size() - 1 - i : i;
    if (counts[arm] == fewest) return arm;
  }
  return 0;
}

}  // namespace jprof::cpo
