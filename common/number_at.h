// Reads numbers from texts of the kernel.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace jprof {

// Returns the number at the beginning of the text, or nothing if there is none.
template <typename T>
std::optional<T> NumberAt(std::string_view text, int base = 10) {
  T value = 0;
  const auto [after, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc()) return std::nullopt;
  return value;
}

}  // namespace jprof
