// Finds a word of each of the VM's threads that the VM does not use. Woven code keeps the thread's
// current node there.
#pragma once

#include <cstdint>

#include "common/result.h"
#include "jprof/hotspot/vm/libjvm_image.h"
#include "jprof/hotspot/vm/vm_structs.h"

namespace jprof::hotspot {

// Returns its offset in a JavaThread. It is the word that HotSpot reserves for compilers that are
// written in Java (JVMCI) and that its own compilers leave at 0. Fails if this VM was built without
// it, or if it runs such a compiler.
Result<uint64_t> SpareWordOfThread(const LibjvmImage& image, const VmStructs& structs);

}  // namespace jprof::hotspot
