// Fills the record of a thread in the profile: its name, its clock and counters, its beginning and
// end. Requires that the thread has a session.
#pragma once

#include <cstdint>
#include <string_view>

#include "jprof/engine/thread.h"

namespace jprof::engine {

// Opens the clock and the counters of the calling thread, whose state is `thread`. Returns the
// flags of its record that state what could not be opened.
uint32_t OpenMetrics(Thread& thread);
// Sets what is known of the calling thread when its record has been opened. Its metrics begin with
// StartMetrics.
void BeginRecord(Thread& thread);
void StartMetrics(Thread& thread);
// Sets what is known of another thread.
void BeginRecordOf(Thread& thread, uint32_t tid);

// Returns whether this is the thread that the process began with.
bool IsFirstOfProcess(const Thread& thread);

// Sets the name of a thread when it becomes known or changes, and applies the thread filter.
// `thread` need not be the calling thread.
void NameThread(Thread& thread, std::string_view name);
// Names the calling thread by what is known at its first event.
void NameAtFirstEvent(Thread& thread);

// Completes the record of the calling thread.
void EndRecord(Thread& thread);
// Completes the record of a thread that may be running, unless it is complete.
void EndRecordAt(Thread& thread, uint64_t ticks);

}  // namespace jprof::engine
