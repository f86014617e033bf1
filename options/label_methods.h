// The methods of LABEL_FROM, whose argument is the text of a label (docs/LABELS.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/result.h"
#include "options/filter.h"

namespace jprof::options {

inline constexpr size_t kMostLabelMethods = 8;

// One method, "com.acme.Shop.handle:2" as typed; all that have this name if there are several.
struct LabelMethod {
  Filter filter;          // one item, which may also match more than the method
  std::string name;       // of the method
  uint32_t argument = 1;  // counted from 1, without `this`

  bool Matches(std::string_view class_name, std::string_view method_name) const {
    return method_name == name && filter.AcceptsMethod(class_name, method_name);
  }
};

// Parses an item of LABEL_FROM. A name is written as those of FOCUS are, without a *. Fails if
// there is no class or no method, or if the argument is not a number from 1 to 255.
Result<LabelMethod> ParseLabelMethod(std::string_view text);

}  // namespace jprof::options
