// Contains data for the functions that the VM calls, besides their arguments. It is global, because
// it cannot be passed to them: generated code calls the probes with a thread and a method, and the
// compilers call CompileFocus's functions with arguments of their own.
#pragma once

#include <cstdint>

#include "jprof/hotspot/vm/vm.h"

namespace jprof::hotspot {

class CallerSites;
class CompileFocus;

struct ProbeGlobals {
  // HandlersFor sets this before a handler is called.
  ThreadMarks marks;
  // SetInterpreter sets these once the interpreter exists. Until then no method counts
  // as interpreted.
  uint64_t interpreter_begin = 0, interpreter_bytes = 0;
  // CompileFocus::Install sets this before calls are redirected.
  CompileFocus* compile_focus = nullptr;
  // Is set before a handler of a recording with call sites is called.
  const CallerSites* callers = nullptr;
};
// The symbol is hidden, so that a handler reads it without loading its address.
extern ProbeGlobals probe_globals [[gnu::visibility("hidden")]];

}  // namespace jprof::hotspot
