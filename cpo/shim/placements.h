// Logs where groups of memory are, and what goes with time: how far the heap reaches, faults, what
// directives have got. errno is preserved.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace jprof::cpo {

void LogBegin(uint32_t group, const void* memory, size_t bytes);
void LogEnd(const void* memory, size_t bytes);

// Logs that a block of malloc's heap is small blocks' from now on.
void LogFreed(const void* memory, size_t bytes);

// Logs how far malloc's heap reaches now and, once a second, the counts.
void LogProgress();
// Logs all of it, and that the program has reached its end.
void LogExit();

// Finds where malloc's heap and the main thread's stack begin, when the log is new.
void BeginProgress();

}  // namespace jprof::cpo
