// Computes what probes cost for exact metrics (counters). The cost is divided by the ends of an
// event, not by interval: an interval after an exit begins in a method that has returned, and no
// Key contains the type of that method.
//
//   interval after entering X  = end of X's entry + own work + begin of the next event
//   interval after Y's exit    = end of Y's exit  + own work + begin of the next event
//
// Moving the same amount from the begin of every event to its end changes no interval and no sum:
// only the sums of an end and a begin are determined.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>

namespace jprof::calibrate {

// The costs of probes of methods of one type, in the metric's raw units.
struct Probe {
  double enter_in = 0;   // attributed to the caller
  double enter_out = 0;  // attributed to the method
  double exit_in = 0;    // attributed to the method
  double exit_out = 0;   // attributed to the caller
  // Compiled code saves the values that it needs after the call of a probe. At the entry these are
  // the arguments, including `this`; half of the cost arises before the call and half after it. The
  // result is saved at the exit in the same way. A method with callees saves its arguments anyway:
  // then the probe causes only the second load, and an argument costs half.
  double argument = 0;
  double result = 0;

  double Sum() const { return enter_in + enter_out + exit_in + exit_out; }
};
using Probes = std::map<char, Probe>;  // by type, upper case

// The numbers of values that a method saves across its probes.
struct Kept {
  uint8_t arguments = 0;
  uint8_t results = 0;
  bool operator==(const Kept&) const = default;
};
// Returns the values of a method with a JVM signature like "(IJ)V", or none if the text is not a
// signature. `without_this` is true for static methods, and for native ones, whose wrapper always
// passes an object.
Kept KeptOf(std::string_view signature, bool without_this);

}  // namespace jprof::calibrate
