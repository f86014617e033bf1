// Quotes paths in command lines that people paste into a shell.
#pragma once

#include <string>
#include <string_view>

namespace jprof {

// Returns the path as one word of a shell, which is quoted if necessary and never taken for
// an option.
inline std::string ShellWord(std::string_view path) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+,:@%";
  std::string text(path.starts_with('-') ? "./" : "");
  text += path;
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace jprof
