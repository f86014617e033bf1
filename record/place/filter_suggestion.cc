#include "record/place/filter_suggestion.h"

#include <algorithm>

#include "common/nearest.h"

namespace jprof::record {
namespace {

constexpr size_t kMost = 3;

std::string Dotted(std::string_view name) {
  std::string dotted(name);
  std::ranges::replace(dotted, '/', '.');
  return dotted;
}

// Returns whether `name` is `text` in a package or an outer class.
bool EndsWithName(std::string_view name, std::string_view text) {
  if (name.size() <= text.size()) return false;
  const size_t at = name.size() - text.size();
  return (name[at - 1] == '.' || name[at - 1] == '$') && EditDistance(name.substr(at), text) == 0;
}

}  // namespace

void FilterableNames::Add(std::string_view class_name, std::string_view method_name) {
  std::string name = Dotted(class_name);
  if (!names_.insert(name).second) {  // its packages are known
    names_.insert(name + "." + std::string(method_name));
    return;
  }
  for (size_t dot = name.find('.'); dot != name.npos; dot = name.find('.', dot + 1))
    names_.insert(name.substr(0, dot));
  names_.insert(name + "." + std::string(method_name));
}

std::vector<std::string> FilterableNames::Suggest(std::string_view text) const {
  const std::string wanted = Dotted(text);
  std::vector<std::string> suggested;
  for (const std::string& name : names_) {
    if (EndsWithName(name, wanted)) suggested.push_back(name);
  }
  std::ranges::stable_sort(suggested, {}, &std::string::size);
  if (suggested.size() > kMost) suggested.resize(kMost);
  if (!suggested.empty()) return suggested;
  const std::vector<std::string_view> choices(names_.begin(), names_.end());
  const auto nearest = Nearest(wanted, choices);
  const int most = std::max(2, static_cast<int>(wanted.size()) / 4);
  const bool near =
      nearest && (nearest->starts_with(wanted) || EditDistance(wanted, *nearest) <= most);
  if (near) suggested.emplace_back(*nearest);
  return suggested;
}

}  // namespace jprof::record
