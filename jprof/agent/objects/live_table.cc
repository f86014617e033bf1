#include "jprof/agent/objects/live_table.h"

#include <algorithm>

namespace jprof::agent {

// Looking for collected objects whenever their number has doubled takes a constant time an object.
void LiveTable::Add(JNIEnv* jni, jobject object, uint32_t node, uint64_t bytes) {
  const std::lock_guard guard(lock_);
  if (objects_.size() >= remove_at_) RemoveCollected(jni);
  LiveObject& added = objects_.emplace_back();
  added = {.object = jni->NewWeakGlobalRef(object), .node = node, .bytes = bytes};
  if (added.object == nullptr) objects_.pop_back();
}

void LiveTable::RemoveCollected(JNIEnv* jni) {
  std::erase_if(objects_, [&](const LiveObject& object) {
    if (!jni->IsSameObject(object.object, nullptr)) return false;
    jni->DeleteWeakGlobalRef(object.object);
    return true;
  });
  remove_at_ = std::max(kLeast, 2 * objects_.size());
}

void LiveTable::Clear(JNIEnv* jni) {
  const std::lock_guard guard(lock_);
  for (const LiveObject& object : objects_) jni->DeleteWeakGlobalRef(object.object);
  objects_.clear();
}

}  // namespace jprof::agent
