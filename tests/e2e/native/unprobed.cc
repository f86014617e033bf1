// For the program Unprobed: methods that are compiled from now on have no probes, as with a
// compiler that does not know them.
#include <jni.h>

#include "jprof/hotspot/vm.h"

extern "C" JNIEXPORT void JNICALL Java_Unprobed_removeProbes(JNIEnv*, jclass) {
  const auto structs = jprof::hotspot::VmStructs::Load();
  if (!structs) return;
  for (const char* name : {"DTraceMethodProbes", "ExtendedDTraceProbes"})
    if (uint8_t* const flag = jprof::hotspot::Vm::Flag(*structs, name)) *flag = 0;
}
