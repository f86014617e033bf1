// Containers in the profiled process throw std::bad_alloc where there is no memory. It must not
// reach the program: whoever calls code that uses them from outside catches it by this.
#pragma once

#include <new>
#include <type_traits>

#include "common/result.h"

namespace jprof {

// Returns the Result of `body`. Fails where a container found no memory.
template <typename Body>
std::invoke_result_t<Body> FailWithoutMemory(Body&& body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return Fail("Cannot allocate memory");
  }
}

}  // namespace jprof
