// Parses the conditions of a gate, such as "calls of com.acme.*.find > 0%" (docs/GATE.md). Pure.
//
//   METRIC [of PATTERN] [in PATTERN] > BOUND
//   METRIC of each PATTERN [in PATTERN] > BOUND           each method by itself
//   METRIC of each context [of PATTERN] [in PATTERN] > BOUND
//
// A BOUND with a percent sign is a relative change, one with a sign a change, another one a value.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "common/result.h"

namespace jprof::reports {

// Returns whether a pattern matches a method, "pkg/Class" and "name".
using MethodFilter = std::function<bool(std::string_view class_name, std::string_view name)>;
// Parses a pattern of methods (options/filter.h).
using ParseMethods = std::function<Result<MethodFilter>(std::string_view pattern)>;

struct MethodPattern {
  std::string text;  // as typed
  MethodFilter matches;
};

struct Condition {
  // States what is compared with the bound: all that is selected together, or each of it.
  enum class Each { kNone, kMethod, kContext };
  enum class Kind { kPercent, kChange, kValue };

  std::string text;  // as typed
  std::string metric;
  Each each = Each::kNone;
  std::optional<MethodPattern> of;  // none: of all methods
  std::optional<MethodPattern> in;  // none: wherever they are called
  Kind kind = Kind::kPercent;
  double bound = 0;        // a share of 1, or in `unit`
  std::string_view unit;   // "ns" or "bytes"; empty: that of the metric
  std::string bound_text;  // as typed
};

// Fails with kWrongUse; the message shows the condition and a right one.
Result<Condition> ParseCondition(std::string_view text, const ParseMethods& parse_methods);

}  // namespace jprof::reports
