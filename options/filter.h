// Filters of threads and methods, their written form, and the escapes of option values. Pure. The
// message of an error does not name the option: whoever parses the option does.
//
// A value may hold %XX, two hexadecimal digits, for any byte: needed for a comma (%2C), a percent
// sign (%25), and in lists for + (%2B), and * or - where they would mean something (%2A, %2D).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"

namespace jprof::agent {

// One item of a filter: "+pattern" or "-pattern" (without a sign it includes). A * at the end
// matches any rest; without it the whole text must match. Later items take precedence. If the first
// item includes, what matches no item is excluded; if it excludes, included. Patterns of methods
// match "pkg/Class.method" or "pkg/Class", with dots or slashes between packages.
struct FilterItem {
  bool include = true;
  bool prefix = false;
  std::string text;
  bool operator==(const FilterItem&) const = default;
};
struct Filter {
  std::vector<FilterItem> items;
  bool Empty() const { return items.empty(); }
  bool AcceptsThread(std::string_view name) const;
  // `of_application`: what the item "app" stands for.
  bool AcceptsMethod(std::string_view class_name, std::string_view method_name,
                     bool of_application = false) const;
  bool operator==(const Filter&) const = default;
};

// Of one value or list item.
Result<std::string> Decode(std::string_view value);

// The inverse; also escapes blanks, quotes and non-ASCII bytes, so that the result may stand
// anywhere. `also` holds further bytes to escape.
std::string Encode(std::string_view value, std::string_view also = "");

// Items joined by +, each decoded; an empty item is an error.
Result<std::vector<std::string>> ParseList(std::string_view value);

// A + begins an item. A - begins one at the start, after a + and after a *; elsewhere it does so
// where kMethods are listed, but is part of the name where kThreads are: those often have one
// (worker-3). Where kMethods are listed a comma does what a + does: a command line may have one.
enum class Names { kThreads, kMethods };
Result<Filter> ParseFilter(std::string_view value, Names names);

// Every item with its sign.
std::string ToString(const Filter& filter);

}  // namespace jprof::agent
