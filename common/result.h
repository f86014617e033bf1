// The type that a function returns when a file, the kernel or an option may be at fault. The
// message names the object and states what to do next. The kind states who can act: after kWrongUse
// the caller has to make a different request; after kFailed the same request may succeed elsewhere
// or later.
#pragma once

#include <fmt/format.h>

#include <expected>
#include <string>
#include <utility>

namespace jprof {

struct Error {
  enum class Kind { kFailed, kWrongUse };
  std::string message;
  Kind kind = Kind::kFailed;
};

template <typename T>
using Result = std::expected<T, Error>;

template <typename... Args>
std::unexpected<Error> Fail(fmt::format_string<Args...> format, Args&&... args) {
  return std::unexpected(
      Error{fmt::format(format, std::forward<Args>(args)...), Error::Kind::kFailed});
}

template <typename... Args>
std::unexpected<Error> WrongUse(fmt::format_string<Args...> format, Args&&... args) {
  return std::unexpected(
      Error{fmt::format(format, std::forward<Args>(args)...), Error::Kind::kWrongUse});
}

}  // namespace jprof
