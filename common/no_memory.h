// Containers in the profiled process throw std::bad_alloc where there is no memory. It must not
// reach the program: whoever calls code that uses them from outside catches it by this.
#pragma once

#include <unistd.h>

#include <new>
#include <type_traits>

#include "common/result.h"

namespace jprof {

// Returns the Result of `body`. Fails where a container found no memory, with a message that needs
// none itself.
template <typename Body>
std::invoke_result_t<Body> FailWithoutMemory(Body&& body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return std::unexpected(Error{"out of memory"});
  }
}

// Runs `body` and returns its result; `otherwise`, after a message, where there is no memory even
// for a message with a reason.
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
