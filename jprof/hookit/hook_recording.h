// The recording that the hooks of C and C++ functions write to: one of their own, or that of the
// agent in a JVM.
//
// The library is in a process because the program was linked with it or because the launcher had it
// preloaded. It records only if the environment variable JPROF_HOOKS has the options (those of the
// agent; JPROFOPTS is appended). The recording begins at the first call of a hook.
#pragma once

#include <string_view>

#include "jprof/engine/recording.h"
#include "jprof/engine/session.h"

namespace jprof::hookit {

// The agent's session has begun: hooks record into it from here on.
void Join(engine::Session& session, engine::RecordingKind kind, bool train);
// The agent's session ends, or this is a child made by fork(): hooks do nothing from here on.
void Leave();

// Whether this process was started to record functions, so that they may call hooks.
bool Expected();

// The recording that the hooks began in this process.
struct OwnRecording {
  engine::Session* session = nullptr;  // null: they have not begun one
  engine::RecordingKind kind = {};
  const char* directory = nullptr;
};
const OwnRecording& Own();

// Call when a recording has begun: if a tracer counts the instructions of this process, it begins
// here.
void AwaitTracer();
extern "C" void jprof_instructions_begin();
extern "C" int64_t jprof_thread_instructions_offset;

// Ends the hooks' own recording, at the end of the program. Does nothing in another process that
// shares the memory (vfork).
void Finish();

// Ends the hooks' own recording, or keeps it from beginning, because the program is about to call
// `what`, after which the process may not do what recording needs. A message reports it.
void EndBefore(std::string_view what);

// The dynamic linker unmaps a library: functions may be at these addresses that are not known.
void ForgetFunctions();

}  // namespace jprof::hookit
