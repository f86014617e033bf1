// States what can be recorded of a JVM that runs already.
#pragma once

namespace jprof::options {

// The last JDK whose calls can be recorded from the middle of a run. Later interpreters decide when
// the JVM starts whether they report calls.
inline constexpr int kLastJdkWithLateCalls = 23;

}  // namespace jprof::options
