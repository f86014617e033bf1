// Estimates and intervals of shares and sums from numbers of samples. All intervals are of 95 %.
// Pure functions.
#pragma once

#include <vector>

namespace jprof::reports {

// `part` in percent of `whole`; 0 if the whole is 0.
double PercentOf(auto part, auto whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

inline constexpr double kDeviations95 = 1.959964;  // standard deviations of a normal that hold 95 %

struct Estimate {
  double value = 0;
  double low = 0;
  double high = 0;
  bool Holds(double truth) const { return low <= truth && truth <= high; }
};

// hits / trials by Wilson's score interval; it is right for few hits, and for none. No trials: 0,
// anything from 0 to 1.
Estimate Wilson(double hits, double trials);

// The mean of a Poisson process of which `count` events were seen (score interval).
Estimate Poisson(double count);

// An estimate in other units, or as a share of something known.
Estimate Scaled(const Estimate& estimate, double factor);

// b - a of two independent estimates (MOVER: Newcombe's square-and-add of the two intervals' arms).
Estimate Change(const Estimate& a, const Estimate& b);

// Spearman's rank correlation, equal values sharing their mean rank; NaN for fewer than three
// pairs, or if all of one side are equal.
double RankCorrelation(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace jprof::reports
