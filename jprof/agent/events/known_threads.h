// The Java threads that run, with what is needed to find the owner of a monitor. Any thread may
// call this at any time in the live phase.
#pragma once

#include <jvmti.h>

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "jprof/hotspot/vm/monitor_owner.h"
#include "jprof/hotspot/vm/native_thread.h"

namespace jprof::agent {

class KnownThreads {
 public:
  // Without `structs` (the JVM is not HotSpot) no owner is known.
  explicit KnownThreads(const std::optional<hotspot::VmStructs>& structs);

  // Adds the calling thread, or one that exists. Returns false if it is known.
  bool AddCurrent(uint64_t vm_thread);
  bool Add(const hotspot::MonitorThread& thread);
  // Removes the calling thread. Returns false if it is not known.
  bool RemoveCurrent();

  // Returns the kernel's id of the thread that holds the monitor for which the calling thread is
  // about to wait, or 0 if it is not known.
  uint32_t OwnerOf(jobject object) const;

 private:
  std::optional<hotspot::MonitorOwners> owners_;
  std::optional<hotspot::NativeThreads> natives_;
  mutable std::mutex lock_;
  std::vector<hotspot::MonitorThread> threads_;
};

}  // namespace jprof::agent
