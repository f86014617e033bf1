// The instructions that the calling thread has executed, where something other than a hardware
// counter counts them: a tracer that executes the thread step by step (itrace/).
#pragma once

#include <cstdint>
#include <string_view>

namespace jprof::ptm {

// Written by the tracer, which finds it by ThreadInstructionsOffset(). It is at least as new as the
// last branch of the thread.
extern __thread int64_t thread_instructions __attribute__((tls_model("initial-exec")));

// Where it is: its address less the thread pointer, the same for all threads of the process.
int64_t ThreadInstructionsOffset();

// Set in the environment of a program that is started under such a tracer, to the name of the
// function at which it begins.
inline constexpr char kTracedVariable[] = "JPROF_TRACED";

// Calls `begin`, at which the tracer begins to trace the calling thread, until it does: the tracer
// needs a moment to notice that the function was loaded. `count`: the thread's count. Does nothing
// unless a tracer waits for the function of this name. False: it does, and after 10 s nothing has
// been counted.
bool BeginTracing(std::string_view name, void (*begin)(), const int64_t& count);

}  // namespace jprof::ptm
