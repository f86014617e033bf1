// Estimates how a quantity grows with the size n of a program's input. All functions are pure.
//
// Counts are exact. What keeps them off a law of growth are terms of lower order, as in n(n-1)/2;
// constant parts, such as what a program does once while it starts; and chance in the program, such
// as random pivots. The models are
//
//   two parameters     c n^k, n^j (a ln n + b)
//   three parameters   c n^k + d, c n^k + e n^(k-1), n^j (a ln n + b) + d
//
// with j = 0, 1 or 2; a, c and d are positive, and e n^(k-1) is at most half of c n^k. c n^k is
// fitted by least squares of ln y over ln n, the power rule of McGeoch, Sanders, Fleischer, Cohen
// and Precup (Using Finite Experiments to Study Asymptotic Performance, LNCS 2547, 2002); the
// others by least squares of y weighted by 1 / y^2, which minimises relative errors, and k by a
// search. The misfit of a model is the root of the mean square of its relative errors. The rule is:
// - a log-log slope of at most kFlat is a constant, n^0;
// - otherwise the model of two parameters with the least misfit is chosen. Two sizes determine
//   c n^k, and n^j (a ln n + b) needs three;
// - a model of three parameters needs four sizes. It is chosen if the misfit of the best model of
//   two parameters is above kPoor, and its own misfit is at most a quarter of that;
// - n^j (a ln n + b) is a candidate only if a ln n is at least twice |b| at all sizes. Otherwise it
//   would imitate other exponents.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "model/values/statistics.h"

namespace jprof::model {

inline constexpr double kFlat = 0.03;
inline constexpr double kPoor = 0.01;

// The law by which a count grows.
struct Scaling {
  enum class Form : uint8_t { kConstant, kPower, kLogarithmic };
  struct Term {
    double power = 0;
    bool has_log = false;  // it is multiplied by ln n
    double factor = 0;
  };

  Form form = Form::kConstant;
  // k; of n^j (a ln n + b) the mean exponent between the smallest and the largest size; 0 of a
  // constant.
  double exponent = 0;
  double misfit = 0;            // relative
  std::array<Term, 3> terms{};  // of (n / largest)
  double largest = 1;           // size

  // Returns the power j of kLogarithmic.
  int log_power() const { return static_cast<int>(terms[0].power); }
  // Returns the count at another size.
  double At(double n) const;
};

// Returns the law of the counts, where sizes with a count of 0 are left out. Returns nothing if
// fewer than two others are left. Requires a positive, increasing size for each count.
std::optional<Scaling> FitCounts(std::span<const double> sizes, std::span<const double> counts);

// A time at one size, with the relative standard deviation that its interval shows.
struct SizedTime {
  double size = 0, value = 0, deviation = 0;
};

// Returns the time with the mean of the interval's two sides, or nothing if it has none.
std::optional<SizedTime> TimeAt(double size, const Estimate& time);

// Returns the exponent of times with its 95 % interval: the slope of ln t over ln n, weighted by
// the times' variances. Where the times are off the line by more than their intervals explain, the
// interval is wider in that proportion (Birge's ratio). Returns nothing for fewer than two times.
std::optional<Estimate> FitTimes(std::span<const SizedTime> times);

}  // namespace jprof::model
