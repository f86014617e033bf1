// Prints the hottest methods below the head of a tree: those with the largest exclusive values.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/tree/forest.h"
#include "reports/print/options.h"
#include "reports/print/output.h"

namespace jprof::reports {

inline constexpr size_t kHottest = 5;  // methods that are shown

struct Hottest {
  double share = 0;  // its exclusive value in percent of the whole
  std::string name;
  bool is_java = true;
  std::string count;  // "3 calls"
  std::string note = {};
  std::string caller = {};  // its main caller; empty if there is none
  double caller_share = 0;  // the part of its exclusive value below that caller, 0 to 1
};

// Returns the hottest methods of a profile's tree.
std::vector<Hottest> HottestOf(model::Forest& forest, const Options& options);

// Prints one line for each: " hottest   80.8 %  p.A.append(long)  3 calls, 97 % by Demo.main".
void PrintHottest(std::span<const Hottest> methods, const Options& options, Output& out);

}  // namespace jprof::reports
