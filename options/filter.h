// The written form of filters and the escapes of option values. Pure; used by agent_options.cc
// only.
//
// A value may hold %XX, two hexadecimal digits, for any byte: needed for a comma (%2C), a percent
// sign (%25), and in lists for + (%2B), and * or - where they would mean something (%2A, %2D).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "options/agent_options.h"

namespace jprof::agent {

// Of one value or list item. `option` names the option in errors.
Result<std::string> Decode(std::string_view option, std::string_view value);

// The inverse; also escapes blanks, quotes and non-ASCII bytes, so that the result may stand
// anywhere. `also` holds further bytes to escape.
std::string Encode(std::string_view value, std::string_view also = "");

// Items joined by +, each decoded; an empty item is an error.
Result<std::vector<std::string>> ParseList(std::string_view option, std::string_view value);

// A + begins an item. A - begins one at the start, after a + and after a *; elsewhere it does so
// where kMethods are listed, but is part of the name where kThreads are: those often have one
// (worker-3).
enum class Names { kThreads, kMethods };
Result<Filter> ParseFilter(std::string_view option, std::string_view value, Names names);

// Every item with its sign.
std::string ToString(const Filter& filter);

}  // namespace jprof::agent
