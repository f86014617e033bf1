// What the functions that the VM calls need beside their arguments. Global, because nothing could
// pass it: generated code calls the probes with a thread and a method, and the compilers call
// CompileFocus's functions with arguments of their own.
#pragma once

#include <cstdint>

#include "jprof/hotspot/vm.h"

namespace jprof::hotspot {

class CompileFocus;

struct ProbeGlobals {
  // Set by HandlersFor, before a handler is called.
  ThreadMarks marks;
  // Set once there is an interpreter: until then no method counts as interpreted.
  uint64_t interpreter_begin = 0, interpreter_bytes = 0;
  // Set by CompileFocus::Install, before calls are redirected.
  CompileFocus* compile_focus = nullptr;
};
// Hidden: a handler reads it without a load of its address.
extern ProbeGlobals probe_globals [[gnu::visibility("hidden")]];

}  // namespace jprof::hotspot
