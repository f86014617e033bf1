// Reads the command line of a java command. Pure.
#pragma once

#include <string>
#include <vector>

namespace jprof::agent {

// The name of a profile of this command, without ".jprof": the main class without its package, or
// the jar without its folder, else the program.
std::string ProfileName(const std::vector<std::string>& command);

// The command of a process, for the user: without java and its options if it has a main class, a
// module or a jar.
std::string CommandText(const std::vector<std::string>& command);

// Whether this is a java command that only asks the VM, such as `java -version`. No, where the
// command line does not show it (@FILE).
bool OnlyAsksTheVm(const std::vector<std::string>& command);

}  // namespace jprof::agent
