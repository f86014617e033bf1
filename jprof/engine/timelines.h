// Manages the timelines of a session: opens them in the profile, keeps those of unmounted virtual
// threads, and switches a thread between its own and theirs. A thread opens and switches its own.
// All functions but Close can be called in probes.
#pragma once

#include <cstdint>

#include "common/spin_lock.h"
#include "jprof/engine/method_cache.h"
#include "jprof/engine/session_options.h"
#include "jprof/engine/thread.h"
#include "profile/files/writer.h"

namespace jprof::engine {

class Timelines {
 public:
  Timelines(profile::Writer& writer, const MethodSources& sources, const SessionOptions& options)
      : writer_(writer), sources_(sources), options_(options) {}

  // Gives a timeline its row in the profile and the root of its tree. `flags` are those of its
  // record. Returns false if there is no space; it can then be called again.
  bool Open(Timeline& timeline, uint32_t flags);
  // Opens a row with its own tree for a part of what runs on the calling thread. Returns false if
  // there is no space.
  bool OpenRow(const char* name, uint32_t flags, Timeline& timeline);

  // Switches to the timeline of the mounted virtual thread. `continuation` is the VM's mark of it,
  // or 0 if none is mounted. Requires that the time up to Thread::last is all that the current
  // timeline gets.
  void Switch(Thread& thread, uint64_t continuation, uint64_t vm_thread);
  // Switches to the timeline of a virtual thread whose identity the caller knows, or back to the
  // thread's own if `identity` is 0. The virtual thread must not be the current one. The current
  // timeline gets the time up to here, unless the thread was dispatched meanwhile.
  void SwitchToVirtualThread(Thread& thread, uint64_t identity);

  // Frees the timelines of virtual threads that are not mounted. Requires that no thread uses this
  // object any more.
  void Close();

 private:
  class Guard;
  static constexpr uint32_t kParkedBuckets = 4096;

  void SwitchTo(Thread& thread, uint64_t continuation, uint64_t identity);
  void Mount(Thread& thread, uint64_t identity);
  void Unmount(Thread& thread);
  Timeline* Take(uint64_t virtual_thread);
  Timeline* TakeOpen(uint64_t virtual_thread);
  Timeline* TakeUnopened();
  void Park(Timeline& timeline, uint64_t virtual_thread);

  profile::Writer& writer_;
  const MethodSources& sources_;
  const SessionOptions& options_;
  SpinLock lock_;                          // guards the lists
  Timeline* free_ = nullptr;               // those of virtual threads that ended
  Timeline* unopened_ = nullptr;           // those without space for a row or a root
  Timeline* parked_[kParkedBuckets] = {};  // those of unmounted virtual threads, by identity
};

}  // namespace jprof::engine
