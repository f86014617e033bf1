// Executes what a program commands by the functions of jprof-label.h: start, stop, mark.
#pragma once

#include <string_view>

namespace jprof::hookit {

// What executes the commands. They can be called on any thread, while the program runs.
struct Commands {
  void (*start)() = nullptr;
  void (*stop)() = nullptr;
  void (*mark)(std::string_view text) = nullptr;
};

// Makes the agent execute the commands. Without functions, the hooks' own recording does.
void SetCommands(const Commands& commands);

// Execute a command. They do nothing if nothing is recorded.
void StartRecording();
void StopRecording();
void Mark(std::string_view text);

}  // namespace jprof::hookit
