// Lists the kinds of locks that `jprof locks` counts. In a profile, the row of a class of locks
// that are no monitors has the name of the kind as its signature (kMethodClass). The numbers of the
// Java kinds are those that java.lang.JprofConcurrent gets from woven methods.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace jprof {

enum class LockKind : uint8_t {
  kMonitor,
  kLock,
  kReadLock,
  kWriteLock,
  kSemaphore,
  kLatch,
  kCondition,
  kMutex,  // of native code, which also has read and write locks
};
inline constexpr size_t kLockKinds = 8;

struct LockKindEntry {
  std::string_view name;
  bool is_held;  // whether a thread has such a lock until it releases it
};

inline constexpr std::array<LockKindEntry, kLockKinds> kLockKindTable = {{
    {"monitor", true},
    {"lock", true},
    {"read lock", true},
    {"write lock", true},
    {"semaphore", false},
    {"latch", false},
    {"condition", false},
    {"mutex", true},
}};

constexpr const LockKindEntry& EntryOf(LockKind kind) {
  return kLockKindTable[static_cast<size_t>(kind)];
}

// Returns the kind with this name; kMonitor for other texts.
constexpr LockKind LockKindOf(std::string_view name) {
  for (size_t i = 0; i < kLockKinds; ++i)
    if (kLockKindTable[i].name == name) return static_cast<LockKind>(i);
  return LockKind::kMonitor;
}

}  // namespace jprof
