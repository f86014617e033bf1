// Suggests the names that the user may have meant by a method filter that matched nothing. Pure.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace jprof::record {

// The names that an item of --focus or --methods can be: packages, classes and methods, with dots.
class FilterableNames {
 public:
  // `class_name` is pkg/Class.
  void Add(std::string_view class_name, std::string_view method_name);

  // Returns at most three names: those that end with `text`, which lacks the package; else the
  // nearest one that differs in few letters; else none.
  std::vector<std::string> Suggest(std::string_view text) const;

 private:
  std::set<std::string, std::less<>> names_;
};

}  // namespace jprof::record
