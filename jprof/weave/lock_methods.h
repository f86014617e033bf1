// Lists the methods of java.util.concurrent that take and release locks, and the one in which a
// thread ends. If locks are counted, these methods also call those of java/lang/JprofConcurrent and
// JprofLocks (weave.h).
#pragma once

#include <cstdint>
#include <string_view>

#include "common/lock_kind.h"

namespace jprof::weave {

enum class LockUse : uint8_t {
  kNone,
  kTake,       // takes the lock, or fails: it returns false, 0 or a negative number, or throws
  kRelease,    // releases it
  kPark,       // waits, for whatever one of its callers takes
  kReacquire,  // waits for the lock of a condition, after it has waited for that
  kEnd,        // ends the thread
};

// These are added to the LockKind in LockMethod::what.
inline constexpr uint32_t kTries = 16;     // the method does not wait
inline constexpr uint32_t kConverts = 32;  // the thread has the lock, maybe of another kind
inline constexpr uint32_t kAnyKind = 64;   // the kind is not known

struct LockMethod {
  LockUse use = LockUse::kNone;
  uint32_t what = 0;  // second argument of the calls
};

// Returns kNone for a method that does nothing with locks.
LockMethod FindLockMethod(std::string_view class_name, std::string_view name,
                          std::string_view descriptor);

}  // namespace jprof::weave
