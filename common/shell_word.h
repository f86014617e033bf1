// Quotes paths and other words in command lines that people paste into a shell.
#pragma once

#include <string>
#include <string_view>

namespace jprof {

// Returns the text as one word of a shell, quoted if necessary.
inline std::string QuotedWord(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+,:@%";
  if (!text.empty() && text.find_first_not_of(kPlain) == text.npos) return std::string(text);
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

// Returns the path as one word of a shell, which is quoted if necessary and never taken for an
// option.
inline std::string ShellWord(std::string_view path) {
  return QuotedWord((path.starts_with('-') ? "./" : "") + std::string(path));
}

}  // namespace jprof
