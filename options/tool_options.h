// The environment variable that brings the agent to the JVMs of a command.
#pragma once

namespace jprof::options {

inline constexpr char kToolOptions[] = "JAVA_TOOL_OPTIONS";
// Holds the value of JAVA_TOOL_OPTIONS while the agent is among the launcher's arguments instead
// (java_launch.cc).
inline constexpr char kToolOptionsKept[] = "JPROF_JAVA_TOOL_OPTIONS";

inline constexpr char kLoads[] = "-agentpath:";
inline constexpr char kAgentLibrary[] = "libjprof.so";
inline constexpr char kAgentLibraryInOptions[] = "/libjprof.so=";
// The library that moves the agent to the launcher's arguments; it is in the directory of the
// agent's library.
inline constexpr char kLaunchLibrary[] = "libjprof_java.so";
// The library that replaces functions of pthread_*, in the same directory.
inline constexpr char kLocksLibrary[] = "libjprof_locks.so";

}  // namespace jprof::options
