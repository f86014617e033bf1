// Checks whether woven counting supports a JDK.
#pragma once

#include "common/result.h"

namespace jprof::options {

// The newest tested JDK is 25. New versions of class files rarely change code, so two newer ones
// are accepted.
inline constexpr int kLastWovenJdk = 27;

// Fails, with the reason, if the calls of programs on this JDK cannot be counted by woven code.
Result<void> CheckWovenJdk(int version);

}  // namespace jprof::options
