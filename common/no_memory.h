// Catches the std::bad_alloc that containers throw where there is no memory. It must not reach
// the profiled program, so entry points from outside call code that uses containers through
// these functions.
#pragma once

#include <unistd.h>

#include <new>
#include <type_traits>

#include "common/result.h"

namespace jprof {

// Returns the Result of `body`. Fails if a container found no memory, with a message that needs
// none itself.
template <typename Body>
std::invoke_result_t<Body> FailWithoutMemory(Body&& body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return std::unexpected(Error{"out of memory"});
  }
}

// Runs `body` and returns its result. If there is no memory even for a message with a reason,
// prints a fixed message and returns `otherwise`.
template <typename Body, typename T>
T RunOrWithoutMemory(Body&& body, T otherwise) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    constexpr char kText[] = "jprof: out of memory: the program runs without being profiled\n";
    (void)!write(STDERR_FILENO, kText, sizeof kText - 1);
    return otherwise;
  }
}

}  // namespace jprof
