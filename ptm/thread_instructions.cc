#include "ptm/thread_instructions.h"

namespace jprof::ptm {

__thread int64_t thread_instructions __attribute__((tls_model("initial-exec"))) = 0;

int64_t ThreadInstructionsOffset() {
  return reinterpret_cast<const char*>(&thread_instructions) -
         static_cast<const char*>(__builtin_thread_pointer());
}

}  // namespace jprof::ptm
