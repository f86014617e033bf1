#include "ptm/thread_instructions.h"

#include <stdlib.h>
#include <time.h>

namespace jprof::ptm {

__thread int64_t thread_instructions __attribute__((tls_model("initial-exec"))) = 0;

int64_t ThreadInstructionsOffset() {
  return reinterpret_cast<const char*>(&thread_instructions) -
         static_cast<const char*>(__builtin_thread_pointer());
}

bool BeginTracing(std::string_view name, void (*begin)(), const int64_t& count) {
  const char* const awaited = getenv(kTracedVariable);
  if (awaited == nullptr || name != awaited) return true;
  const auto now = [&] { return __atomic_load_n(&count, __ATOMIC_RELAXED); };
  const int64_t before = now();
  constexpr int kTries = 5'000;
  for (int i = 0; i < kTries; ++i) {
    begin();
    if (now() != before) return true;
    constexpr timespec kPause = {0, 2'000'000};
    nanosleep(&kPause, nullptr);
  }
  return false;
}

}  // namespace jprof::ptm
