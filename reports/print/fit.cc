#include "reports/print/fit.h"

#include <algorithm>
#include <utility>

#include "common/terminal_cells.h"

namespace jprof::reports {
namespace {

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

// Returns the indentation, of which at most half of the room is left, and what fits of a name.
std::string Indented(std::string_view indentation, std::string_view name, size_t room) {
  const size_t used = std::min(indentation.size(), room / 2);
  return std::string(indentation.substr(indentation.size() - used)) + Cut(name, room - used);
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

std::string_view FirstLetter(std::string_view text) {
  const std::string_view letter = FirstCells(text, 1);
  return letter.empty() ? FirstCells(text, 2) : letter;  // a wide one
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
    packages.append(FirstLetter(std::string_view(text).substr(at))).append(".");
  text.replace(mark, type + 1 - mark, packages);
}

}  // namespace

std::string Cut(std::string_view text, size_t room) {
  if (Cells(text) <= room) return std::string(text);
  constexpr std::string_view kCut = "...";
  const size_t kept = room - std::min(room, kCut.size());
  return std::string(FirstCells(text, kept)).append(kCut.substr(0, room - kept));
}

std::string Fitted(std::string_view text, size_t room) {
  if (Cells(text) <= room) return std::string(text);
  const size_t begin = BeginOfName(text);
  std::string name(text.substr(begin));
  const auto is_long = [&, before = std::min(begin, room / 2)] {
    return before + Cells(name) > room;
  };
  if (is_long()) DropCaller(name);
  if (is_long() && IsJava(name)) DropArguments(name);
  if (is_long() && IsJava(name)) ShortenPackages(name);
  return Indented(text.substr(0, begin), name, room);
}

std::string FittedProse(std::string_view text, size_t room) {
  if (Cells(text) <= room) return std::string(text);
  const size_t begin = std::min(text.find_first_not_of(' '), text.size());
  return Indented(text.substr(0, begin), text.substr(begin), room);
}

size_t RoomBehind(size_t used, size_t width) {
  constexpr size_t kLeast = 12;
  return std::max(width, used + kLeast) - used;
}

std::string FittedLine(std::string begin, std::string_view name, size_t width) {
  const size_t room = width == 0 ? name.size() : RoomBehind(Cells(begin), width);
  return std::move(begin).append(Cut(name, std::min(room, name.size()))).append("\n");
}

}  // namespace jprof::reports
