#include "jprof/agent/class_definitions.h"

#include <time.h>

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

bool ClassDefinitions::AwaitClasses(int most_ms) {
  constexpr timespec kPause = {0, 1'000'000};
  for (int waited = 0; waited < most_ms; ++waited) {
    {
      const std::lock_guard guard(lock_);
      if (files_.empty()) return true;
    }
    nanosleep(&kPause, nullptr);
  }
  return false;
}

}  // namespace jprof::agent
