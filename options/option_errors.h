// Makes the errors of options.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "options/agent_options.h"
#include "options/option_table.h"

namespace jprof::options {

using OptionNames = std::initializer_list<std::string_view>;

// Returns that the option is wrong, and why.
inline std::unexpected<OptionError> Wrong(const Option& option, std::string problem) {
  return std::unexpected(OptionError{.option = &option, .problem = std::move(problem)});
}

// Returns that the option needs one of others, which are named as in the table.
inline std::unexpected<OptionError> Needs(const Option& option, OptionNames needs,
                                          std::string_view reason = "") {
  OptionError error = {.option = &option, .problem = std::string(reason)};
  for (const std::string_view name : needs) error.needs.push_back(FindOption(name));
  return std::unexpected(std::move(error));
}

}  // namespace jprof::options
