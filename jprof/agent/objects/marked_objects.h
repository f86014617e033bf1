// Lists the objects of the heap that have a number in their mark word (ObjectMarks) and no tag.
#pragma once

#include <jvmti.h>

#include <cstdint>
#include <functional>

#include "common/result.h"
#include "jprof/hotspot/objects/object_marks.h"

namespace jprof::agent {

struct MarkedObject {
  uint64_t address = 0;  // until the next collection
  uint32_t number = 0;
  uint64_t bytes = 0;
};

// Calls f for each of them, on the VM's thread while all its other threads stand still: f must not
// call the VM. Requires the capability can_tag_objects. Fails if this VM does not show its objects.
Result<void> ForEachMarkedObject(jvmtiEnv* jvmti, const hotspot::ObjectMarks& marks,
                                 const std::function<void(const MarkedObject&)>& f);

}  // namespace jprof::agent
