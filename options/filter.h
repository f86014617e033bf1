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

namespace jprof::options {

// One item of a filter: "+pattern" or "-pattern"; without a sign it includes. The last matching
// item decides. A name that matches no item is excluded if the first item includes, and included if
// the first item excludes.
// - A pattern with a * at the end matches what begins with the text before it.
// - Another * in a pattern of methods stands for any text, also with dots: "com.acme.*.find".
// - Another pattern of threads matches the whole name.
// - Another pattern of methods is a package with everything below it, a class with its nested
//   classes, or a method ("pkg/Class.method"). A dot in it matches the separator of packages, of
//   nested classes and of the method.
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
  // `of_application` states whether the item "app" matches this class.
  bool AcceptsMethod(std::string_view class_name, std::string_view method_name,
                     bool of_application = false) const;
  // Returns the set of items that match a method, with bit i for item i, and bit 63 for all further
  // ones.
  uint64_t ItemsOfMethod(std::string_view class_name, std::string_view method_name) const;
  bool operator==(const Filter&) const = default;
};

// Replaces the escapes of one value or list item.
Result<std::string> Decode(std::string_view value);

// Inverts Decode. Also escapes blanks, quotes and non-ASCII bytes, so that the result needs no
// quoting, and the bytes in `also`.
std::string Encode(std::string_view value, std::string_view also = "");

// Parses items joined by + and decodes each. Fails if an item is empty.
Result<std::vector<std::string>> ParseList(std::string_view value);

// The names that a filter applies to. A + begins an item. A - begins one at the start, after
// a + and after a *. Elsewhere it depends on the names:
// - kThreads: a - is part of the name, because thread names often contain one (worker-3);
// - kMethods: a - begins an item, and a comma, which a command line may contain, is a +.
// In kMethods, "Foo#bar", "Foo::bar" and "Foo.bar(int)" are read as "Foo.bar", "pkg." as "pkg", and
// several * at the end as one.
enum class Names { kThreads, kMethods };
Result<Filter> ParseFilter(std::string_view value, Names names);

// Writes every item with its sign.
std::string ToString(const Filter& filter);

}  // namespace jprof::options
