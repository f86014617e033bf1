// What libjprof-pages.so knows of its process. All of it is in one object of static storage that is
// zero in a new process and, because the kernel wipes it, in a forked child: a child begins anew
// with its first large block, has a log of its own, and no lock is held in it.
//
// Nothing here allocates. The functions may be called in signal handlers where malloc may: a thread
// that is inside the library does nothing more in it, and who cannot have the lock does without.
#pragma once

#include <limits.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>

#include "cpo/allocations/log_format.h"

namespace jprof::cpo {

inline constexpr size_t kMostChunks = 4096;
inline constexpr size_t kMostGroups = 4096, kMostModules = 256, kMostDirectives = 256;
inline constexpr size_t kMostRegions = 3;

enum Phase : uint32_t { kNew, kStarting, kOn, kOff };

struct Region {  // of HotSpot
  uint64_t begin, end;
  uint32_t group;
};

struct alignas(64 << 10) State {  // whole pages, also of AArch64
  uint32_t phase;                 // a Phase
  uint32_t locked;
  // The log.
  uint64_t next_slot, next_report;
  LogSlot* chunks[kMostChunks];
  char log[PATH_MAX];
  char program[PATH_MAX];  // this process's executable
  uint32_t notes, modules;
  uint64_t module_hashes[kMostModules];
  // Groups of memory, by the hash of their text. The number of a group is its index.
  uint64_t groups[kMostGroups];
  uint16_t directives[kMostGroups];  // of each group, + 1
  // Large pages: those that are advised, with their directive, and how many each directive has.
  uint64_t* pages;
  uint64_t used[kMostDirectives];
  bool has_outcome[kMostDirectives];
  uint64_t heap_end, heap_time;
  Region regions[kMostRegions];  // of HotSpot; `end` is 0 if it is not known yet
};

[[gnu::visibility("hidden")]] extern State g_state;
[[gnu::visibility("hidden")]] extern constinit thread_local bool t_inside;

// Marks that the calling thread is inside the library. It is false if it was already.
class Inside {
 public:
  Inside() : entered_(!t_inside) { t_inside = true; }
  ~Inside() {
    if (entered_) t_inside = false;
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  explicit operator bool() const { return entered_; }

 private:
  bool entered_;
};

// The lock of what is rare: groups' claims and growth of the log. It is false if it could not be
// had in about a millisecond. Signals are blocked meanwhile.
class TryLock {
 public:
  TryLock();
  ~TryLock();
  TryLock(const TryLock&) = delete;
  TryLock& operator=(const TryLock&) = delete;
  explicit operator bool() const { return has_; }

 private:
  uint64_t signals_ = 0;
  bool has_ = false;
};

// Preserves errno.
class KeptErrno {
 public:
  KeptErrno();
  ~KeptErrno();
  KeptErrno(const KeptErrno&) = delete;
  KeptErrno& operator=(const KeptErrno&) = delete;

 private:
  int errno_;
};

// Begins to log if the process has not decided yet whether to.
bool Start();

inline bool IsOn() {
  const uint32_t phase = __atomic_load_n(&g_state.phase, __ATOMIC_ACQUIRE);
  return phase == kOn || (phase == kNew && Start());
}

}  // namespace jprof::cpo
