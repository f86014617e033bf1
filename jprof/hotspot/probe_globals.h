// Data for the functions that the VM calls, besides their arguments. Global, because it cannot be
// passed to them: generated code calls the probes with a thread and a method, and the compilers
// call CompileFocus's functions with arguments of their own.
#pragma once

#include <cstdint>

#include "jprof/hotspot/vm.h"

namespace jprof::hotspot {

class CompileFocus;

struct ProbeGlobals {
  // Set by HandlersFor, before a handler is called.
  ThreadMarks marks;
  // Set once the interpreter exists: until then no method counts as interpreted.
  uint64_t interpreter_begin = 0, interpreter_bytes = 0;
  // Set by CompileFocus::Install, before calls are redirected.
  CompileFocus* compile_focus = nullptr;
};
// Hidden: a handler reads it without loading its address.
extern ProbeGlobals probe_globals [[gnu::visibility("hidden")]];

}  // namespace jprof::hotspot
