// What probes cost where metrics are exact (counters): not an interval between two events but each
// end of an event by itself, because an interval that begins with an exit begins in a method that
// is already gone: its type is in no Key.
//
//   interval after entering X  = way out of X's entry + own work + way in of the next event
//   interval after Y's exit    = way out of Y's exit  + own work + way in of the next event
//
// Moving the same from every way in to every way out changes no interval and no sum: only pairs
// mean something.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>

namespace jprof::calibrate {

// Of methods of one type, in the metric's raw units.
struct Probe {
  double enter_in = 0;   // charged to the caller
  double enter_out = 0;  // charged to the method
  double exit_in = 0;    // charged to the method
  double exit_out = 0;   // charged to the caller
  // Compiled code saves what is needed after the call of a probe: per argument (`this`, too), half
  // of it before the entry's call and half after; for a result, the same at the exit. A method that
  // calls others saves its arguments for them, too: then only to fetch them once more is the
  // probe's doing, and an argument costs half.
  double argument = 0;
  double result = 0;

  double Sum() const { return enter_in + enter_out + exit_in + exit_out; }
};
using Probes = std::map<char, Probe>;  // by type, upper case

// What a method has to keep over its probes.
struct Kept {
  uint8_t arguments = 0;
  uint8_t results = 0;
  bool operator==(const Kept&) const = default;
};
// Of a JVM signature, "(IJ)V". What is not one keeps nothing. `without_this`: of a static method,
// and of a native, whose wrapper passes an object in any case.
Kept KeptOf(std::string_view signature, bool without_this);

}  // namespace jprof::calibrate
