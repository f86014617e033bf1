// The instructions that the calling thread has executed, where they are not counted by a hardware
// counter but by a tracer that executes the thread step by step (itrace/).
#pragma once

#include <cstdint>
#include <string_view>

namespace jprof::ptm {

// The count. The tracer writes it and finds it by ThreadInstructionsOffset(). It is at least as new
// as the last branch of the thread.
extern __thread int64_t thread_instructions __attribute__((tls_model("initial-exec")));

// Returns the address of the count less the thread pointer, which is the same for all threads of
// the process.
int64_t ThreadInstructionsOffset();

// The environment variable of a program that is started under such a tracer. Its value is the name
// of the function at which the tracer begins.
inline constexpr char kTracedVariable[] = "JPROF_TRACED";

// Calls `begin`, at which the tracer begins to trace the calling thread, until it does: the tracer
// needs a moment to notice that the function was loaded. `count` is the thread's count. Does
// nothing and returns true unless a tracer waits for the function of this name. Returns false if
// nothing has been counted after 10 s.
bool BeginTracing(std::string_view name, void (*begin)(), const int64_t& count);

}  // namespace jprof::ptm
