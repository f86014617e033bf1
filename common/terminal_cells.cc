#include "common/terminal_cells.h"

#include <algorithm>
#include <clocale>
#include <cwchar>

namespace jprof {
namespace {

// Makes the C library take text of this thread for UTF-8, whatever the user's locale is. Where the
// locale is missing, it changes nothing.
class Utf8Locale {
 public:
  Utf8Locale() : before_(uselocale(Utf8())) {}
  Utf8Locale(const Utf8Locale&) = delete;
  Utf8Locale& operator=(const Utf8Locale&) = delete;
  ~Utf8Locale() { uselocale(before_); }

 private:
  static locale_t Utf8() {
    static const locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
    return utf8;
  }

  locale_t before_;
};

struct Character {
  size_t bytes = 1, cells = 1;
};

// Requires a Utf8Locale, and text that is not empty.
Character FirstCharacter(std::string_view text) {
  if (static_cast<unsigned char>(text.front()) < 0x80) return {};
  std::mbstate_t state = {};
  wchar_t wide = 0;
  const size_t bytes = std::mbrtowc(&wide, text.data(), text.size(), &state);
  if (bytes == 0 || bytes > text.size()) return {};
  const int cells = wcwidth(wide);
  return {bytes, cells < 0 ? 1 : static_cast<size_t>(cells)};
}

bool IsAscii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

}  // namespace

size_t Cells(std::string_view text) {
  if (IsAscii(text)) return text.size();
  const Utf8Locale utf8;
  size_t cells = 0;
  while (!text.empty()) {
    const Character first = FirstCharacter(text);
    text.remove_prefix(first.bytes);
    cells += first.cells;
  }
  return cells;
}

std::string_view FirstCells(std::string_view text, size_t cells) {
  if (IsAscii(text)) return text.substr(0, cells);
  const Utf8Locale utf8;
  size_t used = 0, at = 0;
  while (at < text.size()) {
    const Character next = FirstCharacter(text.substr(at));
    if (used + next.cells > cells) break;
    used += next.cells;
    at += next.bytes;
  }
  return text.substr(0, at);
}

}  // namespace jprof
