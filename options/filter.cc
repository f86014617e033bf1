#include "options/filter.h"

#include <algorithm>
#include <ranges>

namespace jprof::options {
namespace {

constexpr std::string_view kApplication = "app";

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c = static_cast<char>(c | 0x20);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool IsPlain(char c) {
  if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) return true;
  return std::string_view("/._~$:@=<>-").contains(c);
}

bool IsPlus(char c, Names names) { return c == '+' || (c == ',' && names == Names::kMethods); }

// Returns the end of the item that begins at `begin` (after its sign): the next sign that begins an
// item.
size_t ItemEnd(std::string_view value, size_t begin, Names names) {
  for (size_t i = begin; i < value.size(); ++i) {
    if (IsPlus(value[i], names)) return i;
    if (value[i] == '-' && (names == Names::kMethods || (i > begin && value[i - 1] == '*')))
      return i;
  }
  return value.size();
}

// Replaces other notations of a method or package: Foo#bar, Foo::bar, Foo.bar(int), pkg. or pkg/.
std::string Normalized(std::string text, bool prefix) {
  if (const size_t arguments = text.find('('); arguments != text.npos && arguments != 0)
    text.resize(arguments);
  std::ranges::replace(text, '#', '.');
  for (size_t at = 0; (at = text.find("::", at)) != text.npos;) text.replace(at, 2, ".");
  while (!prefix && text.size() > 1 && (text.back() == '.' || text.back() == '/')) text.pop_back();
  return text;
}

Result<FilterItem> ParseItem(std::string_view text, bool include, Names names) {
  if (text.empty()) return WrongUse("there is no pattern after a + or -");
  const bool prefix = text.back() == '*';
  if (prefix) text.remove_suffix(1);
  while (names == Names::kMethods && prefix && text.ends_with('*')) text.remove_suffix(1);
  if (names == Names::kThreads && text.contains('*')) {
    return WrongUse("a * is only allowed at the end, not in '{}*' (%2A is a literal *)",
                    text.substr(0, text.find('*')));
  }
  auto decoded = Decode(text);
  if (!decoded) return std::unexpected(decoded.error());
  if (names == Names::kMethods) decoded = Normalized(*std::move(decoded), prefix);
  return FilterItem{include, prefix, *std::move(decoded)};
}

// Returns the decision of the last item that matches, or the opposite of the first item's if none
// does.
template <typename Matches>
bool Accepts(const std::vector<FilterItem>& items, Matches matches) {
  for (const FilterItem& item : std::views::reverse(items)) {
    if (matches(item)) return item.include;
  }
  return items.empty() || !items.front().include;
}

// Represents a method as the characters of "pkg/Class.method".
struct MethodText {
  std::string_view class_name, method_name;

  size_t size() const { return class_name.size() + 1 + method_name.size(); }
  char operator[](size_t i) const {
    if (i < class_name.size()) return class_name[i];
    return i == class_name.size() ? '.' : method_name[i - class_name.size() - 1];
  }
  // Returns whether a package, a class or the method ends before this character.
  bool IsEndOfName(size_t i) const {
    if (i >= class_name.size()) return i == class_name.size() || i == size();
    return class_name[i] == '/' || class_name[i] == '.' || class_name[i] == '$';
  }
};

// Returns whether a character of a pattern matches one of the method. With `nested`, a dot of the
// pattern also matches between a class and the class nested in it.
bool Matches(char pattern, char c, bool nested) {
  const auto separates = [](char s) { return s == '.' || s == '/'; };
  return pattern == c ||
         (separates(pattern) && (separates(c) || (nested && pattern == '.' && c == '$')));
}

// Where a character does not match, the last * before it takes one character more.
bool MatchesItem(const FilterItem& item, const MethodText& method) {
  constexpr size_t kNone = ~size_t{0};
  const std::string_view text = item.text;
  size_t behind_star = kNone, retry = 0;
  for (size_t at = 0, i = 0;;) {
    if (at == text.size() && (item.prefix || method.IsEndOfName(i))) return true;
    if (at < text.size() && text[at] == '*') {
      behind_star = ++at;
      retry = i;
    } else if (at < text.size() && i < method.size() &&
               Matches(text[at], method[i], !item.prefix)) {
      ++at;
      ++i;
    } else if (behind_star == kNone || retry == method.size()) {
      return false;
    } else {
      at = behind_star;
      i = ++retry;
    }
  }
}

}  // namespace

bool Filter::AcceptsThread(std::string_view name) const {
  return Accepts(items, [name](const FilterItem& item) {
    return item.prefix ? name.starts_with(item.text) : name == item.text;
  });
}

// Does not allocate: a probe may call it at the first event of a method.
bool Filter::AcceptsMethod(std::string_view class_name, std::string_view method_name,
                           bool of_application) const {
  const MethodText method = {class_name, method_name};
  return Accepts(items, [&](const FilterItem& item) {
    return (of_application && !item.prefix && item.text == kApplication) ||
           MatchesItem(item, method);
  });
}

uint64_t Filter::ItemsOfMethod(std::string_view class_name, std::string_view method_name) const {
  constexpr size_t kLastBit = 63;
  uint64_t matching = 0;
  for (size_t i = 0; i < items.size(); ++i) {
    if (MatchesItem(items[i], {class_name, method_name}))
      matching |= uint64_t{1} << std::min(i, kLastBit);
  }
  return matching;
}

Result<std::string> Decode(std::string_view value) {
  std::string decoded;
  for (size_t i = 0; i < value.size(); ++i) {
    if (value[i] != '%') {
      decoded += value[i];
      continue;
    }
    const int high = i + 2 < value.size() ? HexDigit(value[i + 1]) : -1;
    const int low = i + 2 < value.size() ? HexDigit(value[i + 2]) : -1;
    if (high < 0 || low < 0 || high + low == 0) {
      return WrongUse("'{}' is not an escape; write %25 for a percent sign", value.substr(i, 3));
    }
    decoded += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return decoded;
}

std::string Encode(std::string_view value, std::string_view also) {
  std::string encoded;
  for (const char c : value) {
    if (IsPlain(c) && !also.contains(c)) {
      encoded += c;
    } else {
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return encoded;
}

Result<std::vector<std::string>> ParseList(std::string_view value) {
  std::vector<std::string> items;
  for (const auto part : std::views::split(value, '+')) {
    auto item = Decode(std::string_view(part));
    if (!item) return std::unexpected(item.error());
    if (item->empty()) return WrongUse("there is an empty name in '{}'", value);
    items.push_back(*std::move(item));
  }
  if (items.empty()) return WrongUse("there is an empty name in '{}'", value);
  return items;
}

Result<Filter> ParseFilter(std::string_view value, Names names) {
  Filter filter;
  size_t at = 0;
  while (at < value.size()) {
    bool include = true;
    if (IsPlus(value[at], names)) ++at;
    if (at < value.size() && value[at] == '-') {
      include = false;
      ++at;
    }
    const size_t end = ItemEnd(value, at, names);
    auto item = ParseItem(value.substr(at, end - at), include, names);
    if (!item) return std::unexpected(item.error());
    filter.items.push_back(*std::move(item));
    at = end;
  }
  return filter;
}

std::string ToString(const Filter& filter) {
  std::string text;
  for (const FilterItem& item : filter.items) {
    if (!text.empty() && !item.include) text += '+';  // after a +, a - always begins an item
    text += item.include ? "+" : "-";
    text += Encode(item.text, "-");
    if (item.prefix) text += '*';
  }
  return text;
}

}  // namespace jprof::options
