#include "jprof/agent/triggers.h"

#include <algorithm>
#include <cmath>

#include "common/monotonic.h"
#include "jprof/agent/jvmti_threads.h"
#include "jprof/agent/sampled_thread.h"

namespace jprof::agent {
namespace {

Sampling* taker = nullptr;
bool with_class = false;

// The place of a trigger among the options'; -1: not asked for.
int PlaceOf(TriggerKind kind) {
  const auto& triggers = taker->triggers();
  const auto found = std::ranges::find(triggers, kind, &Trigger::kind);
  return found != triggers.end() ? static_cast<int>(found - triggers.begin()) : -1;
}

// Whether it is this event's turn, each N-th being one. `every` of bytes is the VM's affair.
bool Turn(SampledThread& here, int place) {
  const Trigger& trigger = taker->triggers()[place];
  if (trigger.kind == TriggerKind::kAllocatedBytes) return true;
  return ++here.seen[place] % trigger.every == 0;
}

// `object` null, or its class is not asked for: no leaf.
void Take(jvmtiEnv* jvmti, JNIEnv* jni, int place, int64_t weight, jobject object,
          jclass its_class = nullptr) {
  char* signature = nullptr;
  if (with_class && (object != nullptr || its_class != nullptr)) {
    const jclass known = its_class != nullptr ? its_class : jni->GetObjectClass(object);
    if (jvmti->GetClassSignature(known, &signature, nullptr) != JVMTI_ERROR_NONE)
      signature = nullptr;
    if (its_class == nullptr) jni->DeleteLocalRef(known);
  }
  taker->TakeHere(static_cast<size_t>(place), weight, signature);
  if (signature != nullptr) jvmti->Deallocate(reinterpret_cast<unsigned char*>(signature));
}

void CountOne(jvmtiEnv* jvmti, JNIEnv* jni, TriggerKind kind, jobject object,
              jclass its_class = nullptr) {
  SampledThread* here = taker->Here();
  const int place = PlaceOf(kind);
  if (here == nullptr || place < 0 || !taker->running() || !Turn(*here, place)) return;
  Take(jvmti, jni, place, 1, object, its_class);
}

// The VM picks an object about every N bytes, by chance with a constant rate per byte (JEP 331). An
// object of `size` bytes is picked with probability 1 - exp(-size / N), so it stands for size / (1
// - exp(-size / N)) bytes: the Horvitz-Thompson estimator.
int64_t BytesFor(jlong size, uint64_t interval) {
  const double part = static_cast<double>(size) / static_cast<double>(interval);
  return static_cast<int64_t>(static_cast<double>(size) / -std::expm1(-part) + 0.5);
}

void JNICALL OnAllocation(jvmtiEnv* jvmti, JNIEnv* jni, jthread, jobject object, jclass its_class,
                          jlong size) {
  SampledThread* here = taker->Here();
  if (here == nullptr || !taker->running()) return;
  if (const int place = PlaceOf(TriggerKind::kAllocatedBytes); place >= 0) {
    Take(jvmti, jni, place, BytesFor(size, taker->triggers()[place].every), object, its_class);
  }
  CountOne(jvmti, jni, TriggerKind::kAllocations, object, its_class);
}

// What is timed begins.
void Begin(TriggerKind kind) {
  SampledThread* here = taker->Here();
  const int place = PlaceOf(kind);
  if (here != nullptr && place >= 0)
    here->since_ns[place] = static_cast<uint64_t>(MonotonicNanos());
}

// And ends: the sample stands for the times of its N events.
void Complete(jvmtiEnv* jvmti, JNIEnv* jni, TriggerKind kind, jobject object) {
  SampledThread* here = taker->Here();
  const int place = PlaceOf(kind);
  if (here == nullptr || place < 0 || here->since_ns[place] == 0) return;
  const int64_t waited = MonotonicNanos() - static_cast<int64_t>(here->since_ns[place]);
  here->since_ns[place] = 0;
  if (!taker->running() || !Turn(*here, place)) return;
  Take(jvmti, jni, place, waited * static_cast<int64_t>(taker->triggers()[place].every), object);
}

void JNICALL OnContendedEnter(jvmtiEnv* jvmti, JNIEnv* jni, jthread, jobject object) {
  CountOne(jvmti, jni, TriggerKind::kMonitorContendedEnter, object);
  Begin(TriggerKind::kMonitorContendedEntered);
}
void JNICALL OnContendedEntered(jvmtiEnv* jvmti, JNIEnv* jni, jthread, jobject object) {
  Complete(jvmti, jni, TriggerKind::kMonitorContendedEntered, object);
}
void JNICALL OnWait(jvmtiEnv* jvmti, JNIEnv* jni, jthread, jobject object, jlong) {
  CountOne(jvmti, jni, TriggerKind::kMonitorWait, object);
  Begin(TriggerKind::kMonitorWaited);
}
void JNICALL OnWaited(jvmtiEnv* jvmti, JNIEnv* jni, jthread, jobject object, jboolean) {
  Complete(jvmti, jni, TriggerKind::kMonitorWaited, object);
}
void JNICALL OnClassLoad(jvmtiEnv* jvmti, JNIEnv* jni, jthread, jclass loaded) {
  CountOne(jvmti, jni, TriggerKind::kClassLoad, nullptr, loaded);
}

// Virtual threads by name (JDK 21 and later; the headers of 17 do not know these events).
void JNICALL OnVirtualStart(jvmtiEnv* jvmti, JNIEnv*, jthread thread) {
  taker->VirtualThreadStarted(NameOf(jvmti, thread));
}
void JNICALL OnVirtualEnd(jvmtiEnv*, JNIEnv*, jthread) { taker->VirtualThreadEnded(); }

bool Wants(std::initializer_list<TriggerKind> kinds) {
  return std::ranges::any_of(kinds, [](TriggerKind kind) { return PlaceOf(kind) >= 0; });
}
bool WantsAllocations() { return Wants({TriggerKind::kAllocatedBytes, TriggerKind::kAllocations}); }
bool WantsContention() {
  return Wants({TriggerKind::kMonitorContendedEnter, TriggerKind::kMonitorContendedEntered});
}
bool WantsWaits() { return Wants({TriggerKind::kMonitorWait, TriggerKind::kMonitorWaited}); }

}  // namespace

Result<void> PrepareTriggers(jvmtiEnv* jvmti, Sampling* the_sampling, bool object_info,
                             jvmtiEventCallbacks* callbacks) {
  taker = the_sampling;
  with_class = object_info;
  jvmtiCapabilities wanted = {};
  wanted.can_generate_sampled_object_alloc_events = WantsAllocations();
  wanted.can_generate_monitor_events = WantsContention() || WantsWaits();
  if (jvmti->AddCapabilities(&wanted) != JVMTI_ERROR_NONE) {
    return Fail("this JVM does not tell of {}", WantsAllocations() ? "allocations" : "monitors");
  }
  if (WantsAllocations()) {
    const int place = PlaceOf(TriggerKind::kAllocatedBytes);
    const bool all = PlaceOf(TriggerKind::kAllocations) >= 0;
    if (all && place >= 0) {
      return WrongUse(
          "SCS: ALLOCATIONS and ALLOCATED_BYTES pick objects in different ways; take one of them");
    }
    jvmti->SetHeapSamplingInterval(
        all ? 0 : static_cast<jint>(std::min<uint64_t>(taker->triggers()[place].every, 1 << 30)));
  }
  callbacks->SampledObjectAlloc = OnAllocation;
  callbacks->MonitorContendedEnter = OnContendedEnter;
  callbacks->MonitorContendedEntered = OnContendedEntered;
  callbacks->MonitorWait = OnWait;
  callbacks->MonitorWaited = OnWaited;
  callbacks->ClassLoad = OnClassLoad;
  return {};
}

void NameVirtualThreads(JavaVM* java) {
  constexpr int kFirstEvent = JVMTI_MIN_EVENT_TYPE_VAL, kStart = 87, kEnd = 88, kCapability = 44;
  jvmtiEnv* jvmti = nullptr;
  if (java->GetEnv(reinterpret_cast<void**>(&jvmti), JVMTI_VERSION_11) != JNI_OK) return;
  jvmtiCapabilities wanted = {};
  reinterpret_cast<unsigned char*>(&wanted)[kCapability / 8] |= 1 << (kCapability % 8);
  if (jvmti->AddCapabilities(&wanted) != JVMTI_ERROR_NONE) {  // before 21
    jvmti->DisposeEnvironment();
    return;
  }
  void* callbacks[kEnd - kFirstEvent + 1] = {};
  callbacks[kStart - kFirstEvent] = reinterpret_cast<void*>(OnVirtualStart);
  callbacks[kEnd - kFirstEvent] = reinterpret_cast<void*>(OnVirtualEnd);
  jvmti->SetEventCallbacks(reinterpret_cast<jvmtiEventCallbacks*>(callbacks), sizeof callbacks);
  for (const int event : {kStart, kEnd}) {
    jvmti->SetEventNotificationMode(JVMTI_ENABLE, static_cast<jvmtiEvent>(event), nullptr);
  }
}

void EnableTriggers(jvmtiEnv* jvmti) {
  const auto enable = [&](bool wanted, jvmtiEvent event) {
    if (wanted) jvmti->SetEventNotificationMode(JVMTI_ENABLE, event, nullptr);
  };
  enable(WantsAllocations(), JVMTI_EVENT_SAMPLED_OBJECT_ALLOC);
  enable(WantsContention(), JVMTI_EVENT_MONITOR_CONTENDED_ENTER);
  enable(WantsContention(), JVMTI_EVENT_MONITOR_CONTENDED_ENTERED);
  enable(WantsWaits(), JVMTI_EVENT_MONITOR_WAIT);
  enable(WantsWaits(), JVMTI_EVENT_MONITOR_WAITED);
  enable(Wants({TriggerKind::kClassLoad}), JVMTI_EVENT_CLASS_LOAD);
}

}  // namespace jprof::agent
