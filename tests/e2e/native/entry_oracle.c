// A slow, simple oracle: a JVMTI agent that counts every method entry of the classes outside the
// JDK and writes "class.method(sig)ret COUNT" lines when the VM ends. It has nothing in common with
// the profiler except JVMTI's method events, which make the JVM interpret all code. Options: the
// file to write.
#include <jvmti.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kSlots = 1 << 16 };

struct Slot {
  char* name;
  long count;
};

static struct Slot slots[kSlots];
static jrawMonitorID lock;
static char output[4096];

static int IsJdk(const char* signature) {
  static const char* const kPrefixes[] = {"Ljava/", "Ljdk/", "Lsun/", "Lcom/sun/", NULL};
  for (const char* const* p = kPrefixes; *p != NULL; ++p) {
    if (strncmp(signature, *p, strlen(*p)) == 0) return 1;
  }
  return 0;
}

static void Count(const char* name) {
  unsigned long hash = 5381;
  for (const char* c = name; *c != 0; ++c) hash = hash * 33 + (unsigned char)*c;
  for (unsigned long i = hash;; ++i) {
    struct Slot* slot = &slots[i % kSlots];
    if (slot->name == NULL) slot->name = strdup(name);
    if (strcmp(slot->name, name) == 0) {
      ++slot->count;
      return;
    }
  }
}

static void JNICALL OnEntry(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread, jmethodID method) {
  (void)thread;
  jclass cls = NULL;
  char *class_name = NULL, *name = NULL, *signature = NULL, *generic = NULL;
  if ((*jvmti)->GetMethodDeclaringClass(jvmti, method, &cls) != JVMTI_ERROR_NONE) return;
  (*jvmti)->GetClassSignature(jvmti, cls, &class_name, &generic);
  if (generic != NULL) (*jvmti)->Deallocate(jvmti, (unsigned char*)generic);
  if (class_name != NULL && class_name[0] == 'L' && !IsJdk(class_name) &&
      (*jvmti)->GetMethodName(jvmti, method, &name, &signature, NULL) == JVMTI_ERROR_NONE) {
    char full[2048];
    int length = (int)strlen(class_name) - 2;
    snprintf(full, sizeof full, "%.*s.%s%s", length, class_name + 1, name, signature);
    (*jvmti)->RawMonitorEnter(jvmti, lock);
    Count(full);
    (*jvmti)->RawMonitorExit(jvmti, lock);
    (*jvmti)->Deallocate(jvmti, (unsigned char*)name);
    (*jvmti)->Deallocate(jvmti, (unsigned char*)signature);
  }
  if (class_name != NULL) (*jvmti)->Deallocate(jvmti, (unsigned char*)class_name);
  (*jni)->DeleteLocalRef(jni, cls);
}

static void WriteCounts(void) {
  FILE* file = fopen(output, "w");
  if (file == NULL) return;
  for (int i = 0; i < kSlots; ++i) {
    if (slots[i].name != NULL) fprintf(file, "%s %ld\n", slots[i].name, slots[i].count);
  }
  fclose(file);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM* vm, char* options, void* reserved) {
  (void)reserved;
  snprintf(output, sizeof output, "%s", options == NULL ? "entries.txt" : options);
  jvmtiEnv* jvmti = NULL;
  if ((*vm)->GetEnv(vm, (void**)&jvmti, JVMTI_VERSION_1_2) != JNI_OK) return JNI_ERR;
  jvmtiCapabilities capabilities = {0};
  capabilities.can_generate_method_entry_events = 1;
  if ((*jvmti)->AddCapabilities(jvmti, &capabilities) != JVMTI_ERROR_NONE) return JNI_ERR;
  (*jvmti)->CreateRawMonitor(jvmti, "entries", &lock);
  jvmtiEventCallbacks callbacks = {0};
  callbacks.MethodEntry = OnEntry;
  (*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof callbacks);
  (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_METHOD_ENTRY, NULL);
  atexit(WriteCounts);
  return JNI_OK;
}
