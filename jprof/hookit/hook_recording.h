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

// Makes hooks record into the agent's session, which has begun.
void Join(engine::Session& session, engine::RecordingKind kind, bool train);
// Makes hooks do nothing from now on. Call this when the agent's session ends, or in a child made
// by fork().
void Leave();

// Returns whether this process was started to record functions, so that they may call hooks.
bool Expected();

// The recording that the hooks began in this process.
struct OwnRecording {
  engine::Session* session = nullptr;  // null if they have not begun one
  engine::RecordingKind kind = {};
  const char* directory = nullptr;
};
const OwnRecording& Own();
// Returns the session that records the functions of this process, or null. If this process is to
// record them, their recording begins.
engine::Session* BegunSession();

// Lets a tracer that counts the instructions of this process begin here, if there is one. Call this
// when a recording has begun.
void AwaitTracer();
extern "C" void jprof_instructions_begin();
extern "C" int64_t jprof_thread_instructions_offset;

// Ends the hooks' own recording, at the end of the program. Does nothing in another process that
// shares the memory (vfork).
void Finish();

// Ends the hooks' own recording, or prevents it from beginning, because the program is about to
// call `what`, after which the process may not do what recording needs. A message reports it.
void EndBefore(std::string_view what);

// Forgets the known functions. Call this when the dynamic linker has unmapped a library, because
// unknown functions may be at these addresses.
void ForgetFunctions();

}  // namespace jprof::hookit
