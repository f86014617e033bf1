// States how much text shows by default: what fits a screen.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace jprof::reports {

// The shares of the whole, in percent, below which text may hide rows to fit a screen.
// Neighbours differ by at most a factor of 2, so that a screen is seldom half empty.
inline constexpr std::array kShares = {0.0, 0.1, 0.2, 0.3, 0.5, 0.7,  1.0,  1.5, 2.0,
                                       3.0, 5.0, 7.0, 10., 15., 20.0, 30.0, 50.0};

// Returns the smallest of these shares with which the text fits(share) a screen, or the largest if
// none is enough. The more is hidden, the less is shown.
template <typename Fits>
double SmallestShare(const Fits& fits) {
  const auto share =
      std::ranges::partition_point(kShares, [&](double percent) { return !fits(percent); });
  return share == kShares.end() ? kShares.back() : *share;
}

// The most rows of a tree or table that text shows by default: a screen, without the head.
inline constexpr size_t kScreenRows = 22;

// Returns the line below a tree or table that hides rows below `percent` of the whole, or an empty
// text if it hides none.
std::string HiddenText(double percent);
// Returns the line below a table that leaves out `count` rows, or an empty text if that is 0. A row
// stands for `what`, such as "method".
std::string MoreText(size_t count, std::string_view what);

}  // namespace jprof::reports
