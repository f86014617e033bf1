// Estimates shares and sums, with intervals, from numbers of samples. All intervals are of 95 %.
// All functions are pure.
#pragma once

#include <vector>

namespace jprof::model {

// Returns `part` in percent of `whole`, or 0 if the whole is 0.
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

// Returns hits / trials with Wilson's score interval, which is right for few hits, and for none.
// Without trials, returns 0 and an interval from 0 to 1.
Estimate Wilson(double hits, double trials);

// Returns the mean of a Poisson process of which `count` events were seen (score interval).
Estimate Poisson(double count);

// Returns an estimate in other units, or as a share of something known.
Estimate Scaled(const Estimate& estimate, double factor);

// Returns b - a of two independent estimates (MOVER: Newcombe's square-and-add of the two
// intervals' arms).
Estimate Change(const Estimate& a, const Estimate& b);

// Returns b / a - 1 of two independent estimates, of values that are not negative (Fieller's
// interval with the arms of the two intervals: Donner and Zou, Statistical Methods in Medical
// Research 21, 2012). Its upper end is infinite where a may be 0; it is 0 if both are.
Estimate RelativeChange(const Estimate& a, const Estimate& b);

// Returns Spearman's rank correlation, in which equal values share their mean rank. It is NaN for
// fewer than three pairs, or if all of one side are equal.
double RankCorrelation(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace jprof::model
