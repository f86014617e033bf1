#include "reports/assistant/find_method.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "common/nearest.h"
#include "model/tree/readable_name.h"
#include "profile/files/printable_text.h"

namespace jprof::reports::assistant {
namespace {

// Returns the name without parameters.
std::string_view PlainOf(std::string_view name) { return name.substr(0, name.find('(')); }

// Returns how well a text names a method; 0 is best, kNoMatch does not name it.
constexpr int kNoMatch = 3;
int MatchOf(std::string_view name, std::string_view text, std::string_view converted) {
  if (name == text || name == converted) return 0;
  const std::string_view plain = PlainOf(name);
  if (plain == text || (plain.ends_with(text) && plain.size() > text.size() &&
                        plain[plain.size() - text.size() - 1] == '.'))
    return 1;
  return name.find(text) != name.npos ? 2 : kNoMatch;
}

std::unexpected<Error> NoMethod(const CallGraph& graph, const std::string& text) {
  constexpr size_t kMostCompared = 200;  // bytes; the time grows with the product of both lengths
  std::vector<std::string_view> plain;
  for (const std::string& name : graph.names) plain.push_back(PlainOf(name));
  const auto nearest = text.size() <= kMostCompared ? Nearest(text, plain) : std::nullopt;
  return WrongUse("no method of {} is named {}{}; the tool hottest lists methods", graph.head.of,
                  profile::CleanText(text),
                  nearest ? fmt::format("; did you mean {}?", *nearest) : "");
}

std::unexpected<Error> Several(const CallGraph& graph, const std::string& text,
                               std::span<const uint32_t> found) {
  constexpr size_t kNamed = 10;
  std::vector<std::string> names;
  for (const uint32_t name : found.first(std::min(found.size(), kNamed)))
    names.push_back(Shortened(graph.names[name]));
  return WrongUse("{} methods have {} in their names; name one of them whole: {}{}", found.size(),
                  profile::CleanText(text), fmt::join(names, "; "),
                  found.size() > kNamed ? "; ..." : "");
}

}  // namespace

Result<uint32_t> FindMethod(const CallGraph& graph, const std::string& text) {
  const std::string converted = model::MethodIn(model::NameForm::kFull, text);
  int best = kNoMatch;
  std::vector<uint32_t> found;
  for (uint32_t name = 1; name < graph.names.size(); ++name) {  // 0 is the threads
    const int match = MatchOf(graph.names[name], text, converted);
    if (match < best) found.clear();
    best = std::min(best, match);
    if (match == best && match < kNoMatch) found.push_back(name);
  }
  if (found.empty()) return NoMethod(graph, text);
  if (found.size() > 1) return Several(graph, text, found);
  return found.front();
}

}  // namespace jprof::reports::assistant
