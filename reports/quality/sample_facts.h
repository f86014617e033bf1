// Finds the facts that every kind of samples has.
#pragma once

#include <map>
#include <string>

#include "reports/quality/fact_row.h"

namespace jprof::reports {

// Returns "only 99 samples" or, if they are enough, "100 samples". `text` has their number.
Finding SamplesFinding(double samples, const std::string& text);

// Returns the share of samples without a Java frame, or nothing if it is 0.
Findings WithoutJavaFinding(double share);

// Returns the fact about the modules without symbols, with what was sampled in each, of `whole`.
Findings NoSymbolsFinding(const std::map<std::string, double>& modules, double whole);

inline constexpr std::string_view kSamplesMeaning =
    "The error of a value is about the square root of its number of samples: 10 % for 100.";
inline constexpr std::string_view kWithoutJavaMeaning =
    "These stacks have only native code: of the VM itself, or of threads that no Java method "
    "started. No method has their time.";
inline constexpr std::string_view kNoSymbolsMeaning =
    "Their functions have no names: rows show the module and an address, or the module alone.";
inline constexpr std::string_view kNoSymbolsAdvice =
    "Install the debug symbols of these files, and keep the files where they were: jprof a2n "
    "states why a name is missing.";

}  // namespace jprof::reports
