// Reads the command line of a java command. Pure.
#pragma once

#include <string>
#include <vector>

namespace jprof::options {

// Returns the name of a profile of this command, without ".jprof": the main class without its
// package, or the jar without its folder, else the program.
std::string ProfileName(const std::vector<std::string>& command);

// Returns the index of the main class, module, jar or source file of a java command, or the number
// of words if there is none.
size_t MainAt(const std::vector<std::string>& command);

// Returns the command of a process, for the user. It omits java and its options if there is a main
// class, a module or a jar.
std::string CommandText(const std::vector<std::string>& command);

// Returns whether this is a java command that only asks the VM, such as `java -version`. Returns
// false if the command line does not show it (@FILE).
bool OnlyAsksTheVm(const std::vector<std::string>& command);

}  // namespace jprof::options
