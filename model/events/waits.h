// Says why a thread did not run between two of its stretches.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "model/events/context_names.h"
#include "model/events/jvm_events.h"
#include "model/events/stretches.h"

namespace jprof::model {

enum class WaitReason : uint8_t {
  kPreempted,
  kLock,
  kPark,
  kMonitorWait,
  kSleep,
  kInput,
  kPoll,
  kCollection,
  kFutex,
  kDisk,
  kChild,
  kStopped,
  kOther,
};

struct WaitReasonRow {
  WaitReason reason;
  std::string_view name;     // in tables
  std::string_view meaning;  // for legends
};

inline constexpr WaitReasonRow kWaitReasons[] = {
    {WaitReason::kPreempted, "preempted", "it could have run on: another thread got its processor"},
    {WaitReason::kLock, "lock", "a monitor that another thread has"},
    {WaitReason::kPark, "park", "LockSupport.park: locks and queues of java.util.concurrent"},
    {WaitReason::kMonitorWait, "wait", "Object.wait"},
    {WaitReason::kSleep, "sleep", "for a time"},
    {WaitReason::kInput, "input", "a system call that reads or writes: a file, a socket, a pipe"},
    {WaitReason::kPoll, "poll", "a system call that waits for any of several files"},
    {WaitReason::kCollection, "collection", "a garbage collection stopped it"},
    {WaitReason::kFutex, "futex", "a lock or a condition of native code or of the JVM itself"},
    {WaitReason::kDisk, "fault", "a page of memory, or a device, without a system call"},
    {WaitReason::kChild, "child", "another process to end"},
    {WaitReason::kStopped, "stopped", "a signal or a debugger"},
    {WaitReason::kOther, "other", "another system call, or a thread of the kernel itself"},
};

inline constexpr std::string_view NameOf(WaitReason reason) {
  return kWaitReasons[static_cast<size_t>(reason)].name;
}

// Returns the name of a system call of this architecture, or its number as text.
std::string SystemCallName(int32_t number);

class WaitReasons {
 public:
  // `names` and `jvms` may be empty: then reasons are known by system calls only. `jvms` has the
  // events of each JVM by process.
  WaitReasons(const Stretches& stretches, ContextNames& names,
              const std::map<uint32_t, JvmEvents>& jvms)
      : stretches_(stretches), names_(names), jvms_(jvms) {}

  // Returns why a thread stopped at the end of this stretch.
  WaitReason Of(const Stretch& stretch);

  // Returns what the JVM says of it: the class of the lock and the name of its owner, or the cause
  // of the collection; empty if it says nothing.
  std::string DetailOf(const Stretch& stretch);

 private:
  const JvmEvents* JvmOf(const Stretch& stretch) const;
  WaitReason OfContext(uint32_t process, uint64_t context);

  const Stretches& stretches_;
  ContextNames& names_;
  const std::map<uint32_t, JvmEvents>& jvms_;
  std::map<std::pair<uint32_t, uint64_t>, WaitReason> known_;
};

}  // namespace jprof::model
