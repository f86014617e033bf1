#include "reports/print/fit.h"

#include <algorithm>

#include "profile/files/printable_text.h"

namespace jprof::reports {
namespace {

using profile::IsInsideCharacter;

std::string_view FirstCharacters(std::string_view text, size_t count) {
  size_t at = 0;
  while (at < text.size() && (IsInsideCharacter(text[at]) || count > 0))
    count -= !IsInsideCharacter(text[at++]);
  return text.substr(0, at);
}

// Returns where the name begins, behind its indentation and the number of folded callers, "+3 ".
size_t BeginOfName(std::string_view text) {
  const size_t begin = std::min(text.find_first_not_of(' '), text.size());
  if (begin == text.size() || text[begin] != '+') return begin;
  const size_t end = text.find_first_not_of("0123456789", begin + 1);
  return end != text.npos && text[end] == ' ' ? end + 1 : begin;
}

// Returns false for the letters of functions, of code of the VM and of threads, in whose names
// parentheses and dots have other meanings.
bool IsJava(std::string_view name) {
  return !name.starts_with("F:") && !name.starts_with("K:") && !name.starts_with("O:") &&
         !name.starts_with("T:");
}

void DropCaller(std::string& text) {
  if (const size_t at = text.find(" < "); at != text.npos) text.resize(at);
}

void DropArguments(std::string& text) {
  const size_t open = text.find('(', 1);
  if (!text.ends_with(')') || open == text.npos || open + 2 == text.size()) return;
  const char before = text[open - 1];  // the end of a method's name
  if (before != ' ' && before != ':') text.replace(open, text.npos, "(..)");
}

// Reduces each package of a Java method to its first letter: all parts but the last two.
void ShortenPackages(std::string& text) {
  const size_t end = std::min(text.find('('), text.size());
  const size_t mark = text.find(':') == 1 ? 2 : 0;  // "J:"
  const size_t method = text.rfind('.', end);
  const size_t type = method == text.npos || method == 0 ? text.npos : text.rfind('.', method - 1);
  if (type == text.npos || type < mark) return;
  std::string packages;
  for (size_t at = mark; at < type; at = std::min(text.find('.', at), type) + 1)
    packages.append(FirstCharacters(std::string_view(text).substr(at), 1)).append(".");
  text.replace(mark, type + 1 - mark, packages);
}

}  // namespace

size_t Characters(std::string_view text) {
  return text.size() - static_cast<size_t>(std::ranges::count_if(text, IsInsideCharacter));
}

std::string Cut(std::string_view text, size_t room) {
  if (Characters(text) <= room) return std::string(text);
  constexpr std::string_view kCut = "...";
  const size_t kept = room - std::min(room, kCut.size());
  return std::string(FirstCharacters(text, kept)).append(kCut.substr(0, room - kept));
}

std::string Fitted(std::string_view text, size_t room) {
  if (Characters(text) <= room) return std::string(text);
  const size_t begin = BeginOfName(text);
  const std::string before(
      text.substr(begin - std::min(begin, room / 2), std::min(begin, room / 2)));
  std::string name(text.substr(begin));
  const auto is_long = [&] { return before.size() + Characters(name) > room; };
  if (is_long()) DropCaller(name);
  if (is_long() && IsJava(name)) DropArguments(name);
  if (is_long() && IsJava(name)) ShortenPackages(name);
  if (before.size() + Characters(name) <= room) return before + name;
  return before + Cut(name, room - std::min(room, before.size()));
}

}  // namespace jprof::reports
