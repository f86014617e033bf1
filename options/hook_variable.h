// The environment variable with the options of the agent for a program with hooks.
#pragma once

namespace jprof::options {

inline constexpr char kHookOptionsVariable[] = "JPROF_HOOKS";

}  // namespace jprof::options
