// What a tool outside the profiled process returns when the world is wrong: a file, the kernel, an
// option. The message names the thing and says what to do next; `exit_code` is what the command
// exits with (1 the run failed, 2 wrong use).
#pragma once

#include <fmt/format.h>

#include <expected>
#include <string>
#include <utility>

namespace jprof {

struct Error {
  std::string message;
  int exit_code = 1;
};

template <typename T>
using Result = std::expected<T, Error>;

template <typename... Args>
std::unexpected<Error> Fail(fmt::format_string<Args...> format, Args&&... args) {
  return std::unexpected(Error{fmt::format(format, std::forward<Args>(args)...), 1});
}

template <typename... Args>
std::unexpected<Error> WrongUse(fmt::format_string<Args...> format, Args&&... args) {
  return std::unexpected(Error{fmt::format(format, std::forward<Args>(args)...), 2});
}

}  // namespace jprof
