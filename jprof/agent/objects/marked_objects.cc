#include "jprof/agent/objects/marked_objects.h"

namespace jprof::agent {
namespace {

struct Walk {
  const hotspot::ObjectMarks& marks;
  const std::function<void(const MarkedObject&)>& f;
  bool is_known = true;  // whether the VM's structure is the known one
};

// JVMTI does not give the object itself. But the tag belongs to a structure of HotSpot
// (CallbackWrapper), in which the object, its size and its tag follow each other since JDK 8. The
// size, which JVMTI does give, tells whether that is so.
jint JNICALL OnObject(jlong, jlong size, jlong* tag, jint, void* data) {
  Walk& walk = *static_cast<Walk*>(data);
  if (tag[-1] != size) {
    walk.is_known = false;
    return JVMTI_VISIT_ABORT;
  }
  const auto address = static_cast<uint64_t>(tag[-2]);
  const uint32_t number = walk.marks.NumberOf(address);
  if (number != 0) walk.f({address, number, static_cast<uint64_t>(size)});
  return 0;
}

}  // namespace

Result<void> ForEachMarkedObject(jvmtiEnv* jvmti, const hotspot::ObjectMarks& marks,
                                 const std::function<void(const MarkedObject&)>& f) {
  Walk walk = {marks, f};
  jvmtiHeapCallbacks callbacks = {};
  callbacks.heap_iteration_callback = OnObject;
  const jvmtiError error =
      jvmti->IterateThroughHeap(JVMTI_HEAP_FILTER_TAGGED, nullptr, &callbacks, &walk);
  if (error != JVMTI_ERROR_NONE) return Fail("the heap cannot be read (error {})", int{error});
  if (!walk.is_known) return Fail("this JVM does not show the objects of its heap");
  return {};
}

}  // namespace jprof::agent
