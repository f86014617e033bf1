#include "reports/gate/condition.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <span>
#include <vector>

namespace jprof::reports {
namespace {

struct BoundUnit {
  std::string_view suffix;
  std::string_view unit;
  double factor;
};
constexpr BoundUnit kBoundUnits[] = {
    {"ns", "ns", 1},      {"us", "ns", 1e3},    {"ms", "ns", 1e6},    {"s", "ns", 1e9},
    {"kB", "bytes", 1e3}, {"MB", "bytes", 1e6}, {"GB", "bytes", 1e9}, {"", "", 1},
    {"k", "", 1e3},       {"M", "", 1e6},       {"bytes", "bytes", 1}};

template <typename... Args>
std::unexpected<Error> WrongCondition(std::string_view text, fmt::format_string<Args...> format,
                                      Args&&... args) {
  return WrongUse("--fail-if '{}': {}", text, fmt::format(format, std::forward<Args>(args)...));
}

std::string_view WithoutBlanks(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())))
    text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())))
    text.remove_suffix(1);
  return text;
}

std::vector<std::string> WordsOf(std::string_view text) {
  std::vector<std::string> words;
  for (text = WithoutBlanks(text); !text.empty(); text = WithoutBlanks(text)) {
    const size_t end = std::min(text.find_first_of(" \t\n"), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return words;
}

Result<void> ParseBound(std::string_view typed, Condition& condition) {
  if (typed.empty())
    return WrongCondition(condition.text, "it has no bound; write for example 'calls > 0%'");
  condition.bound_text = typed;
  char* end = nullptr;
  const bool is_number = std::string_view("+-.0123456789").contains(typed[0]);
  condition.bound = is_number ? std::strtod(condition.bound_text.c_str(), &end) : 0;
  const bool is_signed = typed.starts_with('+') || typed.starts_with('-');
  const std::string_view suffix =
      end == nullptr ? std::string_view() : WithoutBlanks(end);  // of bound_text
  if (end == nullptr || end == condition.bound_text.c_str() || !std::isfinite(condition.bound)) {
    return WrongCondition(condition.text, "'{}' is no bound; write for example 3%, +10 or 250ms",
                          typed);
  }
  if (suffix == "%") {
    condition.bound /= 100;
    return {};
  }
  condition.kind = is_signed ? Condition::Kind::kChange : Condition::Kind::kValue;
  const auto unit = std::ranges::find(kBoundUnits, suffix, &BoundUnit::suffix);
  if (unit == std::end(kBoundUnits)) {
    return WrongCondition(
        condition.text,
        "there is no unit '{}'; there are %, ns, us, ms, s, bytes, kB, MB, GB, k and M", suffix);
  }
  condition.bound *= unit->factor;
  condition.unit = unit->unit;
  return {};
}

// Takes the words of what a condition is about one by one.
class Subject {
 public:
  Subject(Condition& condition, std::span<const std::string> words,
          const ParseMethods& parse_methods)
      : condition_(condition), words_(words), parse_methods_(parse_methods) {}

  Result<void> Parse() {
    if (!Take(condition_.metric))
      return WrongCondition(condition_.text, "it begins with a metric: calls > 0%");
    if (TakeWord("of")) {
      if (auto parsed = ParseOf(); !parsed) return parsed;
    }
    if (TakeWord("in")) {
      if (auto parsed = ParsePattern("in", condition_.in); !parsed) return parsed;
    }
    if (words_.empty()) return {};
    return WrongCondition(condition_.text,
                          "'{}' is not understood; write METRIC of PATTERN in PATTERN > BOUND",
                          words_.front());
  }

 private:
  bool Take(std::string& word) {
    if (words_.empty()) return false;
    word = words_.front();
    words_ = words_.subspan(1);
    return true;
  }

  bool TakeWord(std::string_view word) {
    if (words_.empty() || words_.front() != word) return false;
    words_ = words_.subspan(1);
    return true;
  }

  Result<void> ParseOf() {
    if (!TakeWord("each")) return ParsePattern("of", condition_.of);
    if (TakeWord("context")) {
      condition_.each = Condition::Each::kContext;
      return TakeWord("of") ? ParsePattern("of", condition_.of) : Result<void>();
    }
    condition_.each = Condition::Each::kMethod;
    return TakeWord("method") ? Result<void>() : ParsePattern("each", condition_.of);
  }

  // The pattern * selects all methods, as none does.
  Result<void> ParsePattern(std::string_view after, std::optional<MethodPattern>& pattern) {
    std::string word;
    if (!Take(word))
      return WrongCondition(condition_.text, "a pattern of methods belongs behind '{}'", after);
    auto filter = parse_methods_(word);
    if (!filter) return WrongCondition(condition_.text, "{}", filter.error().message);
    if (word != "*") pattern = {std::move(word), *std::move(filter)};
    return {};
  }

  Condition& condition_;
  std::span<const std::string> words_;
  const ParseMethods& parse_methods_;
};

}  // namespace

Result<Condition> ParseCondition(std::string_view text, const ParseMethods& parse_methods) {
  Condition condition;
  condition.text = WithoutBlanks(text);
  const size_t sign = condition.text.rfind('>');  // a pattern may contain <init>
  if (sign == std::string::npos)
    return WrongCondition(condition.text, "it has no bound; write for example 'calls > 0%'");
  if (auto parsed =
          ParseBound(WithoutBlanks(std::string_view(condition.text).substr(sign + 1)), condition);
      !parsed)
    return std::unexpected(parsed.error());
  const std::vector<std::string> words = WordsOf(std::string_view(condition.text).substr(0, sign));
  if (auto parsed = Subject(condition, words, parse_methods).Parse(); !parsed)
    return std::unexpected(parsed.error());
  return condition;
}

}  // namespace jprof::reports
