#include "jprof/agent/calls/class_definitions.h"

#include <time.h>

#include "common/monotonic.h"

namespace jprof::agent {

void ClassDefinitions::AddFile(const void* thread, const Name& name) {
  const std::lock_guard guard(lock_);
  files_.emplace(thread, name);
  names_.emplace(name);
}

bool ClassDefinitions::TakeFile(const void* thread, const Name& name) {
  const std::lock_guard guard(lock_);
  files_.erase({thread, name});
  return names_.contains(name);
}

bool ClassDefinitions::AwaitClasses(int64_t deadline) {
  constexpr timespec kPause = {0, 1'000'000};
  for (;;) {
    {
      const std::lock_guard guard(lock_);
      if (files_.empty()) return true;
    }
    if (MonotonicNanos() >= deadline) return false;
    nanosleep(&kPause, nullptr);
  }
}

}  // namespace jprof::agent
