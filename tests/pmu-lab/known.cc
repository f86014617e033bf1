// The native methods of Known.java: the instructions of the calling thread.
#include <jni.h>

#include <cstdio>
#include <cstdlib>

#include "tests/pmu-lab/loop.h"

namespace {

jprof::ptm::EventGroup group;  // of the only thread that reads

}  // namespace

extern "C" JNIEXPORT void JNICALL Java_jprof_lab_Known_open(JNIEnv*, jclass) {
  if (group.Open({&jprof::pmu_lab::kInstructions, 1}).Failed()) {
    fputs("known: no instruction counter\n", stderr);
    exit(1);
  }
}

extern "C" JNIEXPORT jlong JNICALL Java_jprof_lab_Known_plus(JNIEnv*, jclass, jlong x) {
  return x + 1;
}

extern "C" JNIEXPORT jlong JNICALL Java_jprof_lab_Known_count(JNIEnv*, jclass) {
  return group.size() == 0 ? 0 : jprof::ptm::Read(group.slot(0));
}
