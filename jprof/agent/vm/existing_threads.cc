#include "jprof/agent/vm/existing_threads.h"

#include <utility>

#include "jprof/agent/vm/java_threads.h"

namespace jprof::agent {
namespace {

// Returns the field of java.lang.Thread that has the address of the VM's thread, or null if there
// is none.
jfieldID VmThreadField(JNIEnv* jni) {
  const jclass thread = jni->FindClass("java/lang/Thread");
  const jfieldID field = thread != nullptr ? jni->GetFieldID(thread, "eetop", "J") : nullptr;
  jni->ExceptionClear();
  return field;
}

}  // namespace

Result<std::vector<ExistingThread>> ExistingThreads(JNIEnv* jni, jvmtiEnv* jvmti) {
  const auto structs = hotspot::VmStructs::Load();
  if (!structs) return Fail("this JVM is not HotSpot");
  const auto natives = hotspot::NativeThreads::Open(*structs);
  if (!natives) return std::unexpected(natives.error());
  const jfieldID field = VmThreadField(jni);
  if (field == nullptr) return Fail("java.lang.Thread has no field eetop");
  std::vector<ExistingThread> threads;
  JavaThreads(jvmti).ForEachLive(jni, [&](jthread thread, std::string name) {
    const auto vm_thread = static_cast<uint64_t>(jni->GetLongField(thread, field));
    const hotspot::NativeThread native = natives->Of(vm_thread);
    if (native.tid == 0) return;
    threads.push_back({jni->NewLocalRef(thread), std::move(name), vm_thread, native});
  });
  return threads;
}

uint64_t VmThreadOf(JNIEnv* jni, jthread thread) {
  const jfieldID field = VmThreadField(jni);
  return field != nullptr ? static_cast<uint64_t>(jni->GetLongField(thread, field)) : 0;
}

ExistingThread CurrentJavaThread(jvmtiEnv* jvmti, jthread java) {
  ExistingThread thread = {.java = java, .name = ThreadName(jvmti, java)};
  thread.native.tid = CurrentTid();
  return thread;
}

}  // namespace jprof::agent
