// Formats durations, bytes and numbers of things for people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace jprof::reports {

// Returns a duration of `ns` nanoseconds in the unit that fits, with three significant digits:
// "4.30 ns", "36.4 us", "364 ms", "1.52 s", "1234 s"; "0 ns" for 0 and for NaN.
std::string Duration(double ns);

// Returns bytes in the unit that fits, with three significant digits: "12 bytes", "3.40 MB".
std::string Bytes(uint64_t bytes);

// Returns "3 rows", "1 row".
std::string Counted(uint64_t count, std::string_view one, std::string_view many);

}  // namespace jprof::reports
