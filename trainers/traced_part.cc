#include "traced_part.h"

#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "ptm/thread_instructions.h"

#define JPROF_EXPORTED extern "C" [[gnu::visibility("default")]]

// As in the agent (jprof/hookit/hooks.cc), for a trainer that runs without it.
JPROF_EXPORTED int64_t jprof_trainer_instructions_offset;
int64_t jprof_trainer_instructions_offset = jprof::ptm::ThreadInstructionsOffset();
JPROF_EXPORTED [[gnu::noinline, gnu::used]] void jprof_trainer_begin() {}
JPROF_EXPORTED [[gnu::noinline, gnu::used]] void jprof_trainer_end() {}

namespace jprof::trainers {
namespace {

// The count that the tracer writes: the agent's if it is loaded.
const int64_t& Count() {
  void* agent = dlopen("libjprof.so", RTLD_LAZY | RTLD_NOLOAD);
  const void* offset =
      agent != nullptr ? dlsym(agent, "jprof_thread_instructions_offset") : nullptr;
  if (offset == nullptr) return ptm::thread_instructions;
  return *reinterpret_cast<const int64_t*>(static_cast<const char*>(__builtin_thread_pointer()) +
                                           *static_cast<const int64_t*>(offset));
}

}  // namespace

void BeginTracedPart() {
  if (ptm::BeginTracing("jprof_trainer_begin", jprof_trainer_begin, Count())) return;
  fprintf(stderr, "jprof: the trainer is not being traced\n");
  exit(1);
}

void EndTracedPart() { jprof_trainer_end(); }

}  // namespace jprof::trainers
