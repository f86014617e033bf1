// Filters of threads and methods, their written form, and the escapes of option values. Pure. Error
// messages do not name the option; the caller adds its name.
//
// In a value, %XX (two hexadecimal digits) stands for any byte. An escape is required for a comma
// (%2C) and a percent sign (%25), and in lists for + (%2B) and for * and - where they would be
// operators (%2A, %2D).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"

namespace jprof::agent {

// One item of a filter: "+pattern" or "-pattern"; without a sign it includes. A * at the end
// matches any remainder; without it the whole text must match. The last matching item decides. A
// name that matches no item is excluded if the first item includes, and included if the first item
// excludes. Patterns of methods match "pkg/Class.method" or "pkg/Class", with dots or slashes
// between packages.
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
  // `of_application`: whether the item "app" matches this class.
  bool AcceptsMethod(std::string_view class_name, std::string_view method_name,
                     bool of_application = false) const;
  bool operator==(const Filter&) const = default;
};

// Replaces the escapes of one value or list item.
Result<std::string> Decode(std::string_view value);

// The inverse of Decode; also escapes blanks, quotes and non-ASCII bytes, so that the result needs
// no quoting. `also`: further bytes to escape.
std::string Encode(std::string_view value, std::string_view also = "");

// Items joined by +, each decoded; an empty item is an error.
Result<std::vector<std::string>> ParseList(std::string_view value);

// A + begins an item. A - begins one at the start, after a + and after a *. Elsewhere:
// - kThreads: a - is part of the name, because thread names often contain one (worker-3);
// - kMethods: a - begins an item, and a comma, which a command line may contain, is a +.
enum class Names { kThreads, kMethods };
Result<Filter> ParseFilter(std::string_view value, Names names);

// Writes every item with its sign.
std::string ToString(const Filter& filter);

}  // namespace jprof::agent
