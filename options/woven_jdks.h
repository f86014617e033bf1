// Which JDKs woven counting knows.
#pragma once

#include "common/result.h"

namespace jprof::agent {

// The newest known JDK is 25, and new versions of class files rarely change code: two more are
// accepted.
inline constexpr int kLastWovenJdk = 27;

// Fails, with the reason, if the calls of programs on this JDK cannot be counted by woven code.
Result<void> CheckWovenJdk(int version);

}  // namespace jprof::agent
