// Lists objects with the node that allocated each of them, by weak references, which do not keep
// them alive. Thread-safe.
#pragma once

#include <jvmti.h>

#include <cstdint>
#include <mutex>
#include <vector>

#include "profile/files/layout.h"
#include "profile/files/live_record.h"

namespace jprof::agent {

struct LiveObject {
  jweak object = nullptr;
  uint32_t node = 0;  // the class, below the method that allocated the object
  uint64_t bytes = 0;
  profile::LiveRecord* record = nullptr;  // its record in the profile, from its first snapshot on
};

class LiveTable {
 public:
  // Adds an object. The calling thread must be attached to the VM, here and below.
  void Add(JNIEnv* jni, jobject object, uint32_t node, uint64_t bytes);

  // Calls f(LiveObject&) for each object that the VM has not collected. The others are removed.
  template <typename F>
  void ForEachLive(JNIEnv* jni, F f) {
    const std::lock_guard guard(lock_);
    RemoveCollected(jni);
    for (LiveObject& object : objects_) f(object);
  }

  // Removes all objects.
  void Clear(JNIEnv* jni);

 private:
  static constexpr size_t kLeast = 4096;

  void RemoveCollected(JNIEnv* jni);

  std::mutex lock_;
  std::vector<LiveObject> objects_;
  size_t remove_at_ = kLeast;  // the number of objects at which collected ones are looked for
};

}  // namespace jprof::agent
