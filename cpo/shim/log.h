// Writes the log of this process (cpo/allocations/log_format.h) into a mapped file, which keeps
// what was written however the process ends. It has no descriptor while it does not grow: programs
// close what they do not know. Any thread may write; an event that finds no place is counted as
// lost.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "cpo/allocations/log_format.h"

namespace jprof::cpo {

// Returns CLOCK_MONOTONIC in ns.
uint64_t Now();

// Creates `folder`/pages.PID, or pages.PID.1 and so on if an earlier program of this process has
// that. Returns false with errno if it cannot be made.
bool CreateLog(const char* folder, uint64_t threshold, uint32_t large_page);

void Write(SlotKind kind, uint32_t number, uint64_t a, uint64_t b, uint64_t c);
void WriteText(SlotKind kind, uint32_t number, const char* text, size_t bytes);
// States something for a person, once.
void Note(const char* text);

}  // namespace jprof::cpo
