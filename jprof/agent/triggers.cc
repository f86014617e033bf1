#include "jprof/agent/triggers.h"

#include <algorithm>
#include <cmath>

#include "common/monotonic.h"
#include "jprof/agent/agent.h"
#include "jprof/agent/sampled_thread.h"

namespace jprof::agent {
namespace {

// The VM samples an object about every N bytes, randomly with a constant rate per byte (JEP 331).
// It samples an object of `size` bytes with probability 1 - exp(-size / N), so the object
// represents size / (1 - exp(-size / N)) bytes: the Horvitz-Thompson estimator.
int64_t BytesFor(jlong size, uint64_t interval) {
  const double part = static_cast<double>(size) / static_cast<double>(interval);
  return static_cast<int64_t>(static_cast<double>(size) / -std::expm1(-part) + 0.5);
}

}  // namespace

// The index of a trigger among the options'; -1: it was not requested.
int VmTriggers::IndexOf(TriggerKind kind) const {
  const auto found = std::ranges::find(triggers_, kind, &Trigger::kind);
  return found != triggers_.end() ? static_cast<int>(found - triggers_.begin()) : -1;
}

bool VmTriggers::Has(std::initializer_list<TriggerKind> kinds) const {
  return std::ranges::any_of(kinds, [&](TriggerKind kind) { return IndexOf(kind) >= 0; });
}

// Whether the event completes a period of the trigger. ALLOCATED_BYTES is sampled by the VM itself.
bool VmTriggers::IsNthEvent(SampledThread& thread, int place) const {
  const Trigger& trigger = triggers_[static_cast<size_t>(place)];
  if (trigger.kind == TriggerKind::kAllocatedBytes) return true;
  return ++thread.events[place] % trigger.every == 0;
}

void VmTriggers::Sample(int place, int64_t weight, const Event& event) const {
  JvmtiString signature(event.jvmti);
  if (with_class_ && (event.object != nullptr || event.type != nullptr)) {
    const jclass type =
        event.type != nullptr ? event.type : event.jni->GetObjectClass(event.object);
    event.jvmti->GetClassSignature(type, signature.out(), nullptr);
    if (event.type == nullptr) event.jni->DeleteLocalRef(type);
  }
  sampling_.TakeJavaStack(static_cast<size_t>(place), weight, signature.c_str());
}

// Handles an event of a trigger that counts events.
void VmTriggers::Count(TriggerKind kind, const Event& event) const {
  SampledThread* thread = CurrentSampledThread();
  const int place = IndexOf(kind);
  if (thread == nullptr || place < 0 || !sampling_.running()) return;
  if (IsNthEvent(*thread, place)) Sample(place, 1, event);
}

void VmTriggers::BeginTiming(TriggerKind kind) const {
  SampledThread* thread = CurrentSampledThread();
  const int place = IndexOf(kind);
  if (thread == nullptr || place < 0) return;
  thread->since_ns[place] = static_cast<uint64_t>(MonotonicNanos());
}

// A sample represents N events, so its weight is N times the measured time.
void VmTriggers::EndTiming(TriggerKind kind, const Event& event) const {
  SampledThread* thread = CurrentSampledThread();
  const int place = IndexOf(kind);
  if (thread == nullptr || place < 0 || thread->since_ns[place] == 0) return;
  const int64_t passed_ns = MonotonicNanos() - static_cast<int64_t>(thread->since_ns[place]);
  thread->since_ns[place] = 0;
  if (!sampling_.running() || !IsNthEvent(*thread, place)) return;
  const uint64_t every = triggers_[static_cast<size_t>(place)].every;
  Sample(place, passed_ns * static_cast<int64_t>(every), event);
}

void VmTriggers::OnAllocation(jvmtiEnv* jvmti, JNIEnv* jni, jthread, jobject object, jclass type,
                              jlong size) {
  const VmTriggers& self = *TheAgent().vm_triggers;
  if (CurrentSampledThread() == nullptr || !self.sampling_.running()) return;
  const Event event = {jvmti, jni, object, type};
  if (const int place = self.IndexOf(TriggerKind::kAllocatedBytes); place >= 0) {
    const uint64_t every = self.triggers_[static_cast<size_t>(place)].every;
    self.Sample(place, BytesFor(size, every), event);
  }
  self.Count(TriggerKind::kAllocations, event);
}

void VmTriggers::OnContendedEnter(jvmtiEnv* jvmti, JNIEnv* jni, jthread, jobject object) {
  const VmTriggers& self = *TheAgent().vm_triggers;
  self.Count(TriggerKind::kMonitorContendedEnter, {jvmti, jni, object});
  self.BeginTiming(TriggerKind::kMonitorContendedEntered);
}
void VmTriggers::OnContendedEntered(jvmtiEnv* jvmti, JNIEnv* jni, jthread, jobject object) {
  TheAgent().vm_triggers->EndTiming(TriggerKind::kMonitorContendedEntered, {jvmti, jni, object});
}
void VmTriggers::OnWait(jvmtiEnv* jvmti, JNIEnv* jni, jthread, jobject object, jlong) {
  const VmTriggers& self = *TheAgent().vm_triggers;
  self.Count(TriggerKind::kMonitorWait, {jvmti, jni, object});
  self.BeginTiming(TriggerKind::kMonitorWaited);
}
void VmTriggers::OnWaited(jvmtiEnv* jvmti, JNIEnv* jni, jthread, jobject object, jboolean) {
  TheAgent().vm_triggers->EndTiming(TriggerKind::kMonitorWaited, {jvmti, jni, object});
}
void VmTriggers::OnClassLoad(jvmtiEnv* jvmti, JNIEnv* jni, jthread, jclass loaded) {
  TheAgent().vm_triggers->Count(TriggerKind::kClassLoad, {jvmti, jni, nullptr, loaded});
}

Result<void> VmTriggers::SetHeapSampling(jvmtiEnv* jvmti) const {
  const int place = IndexOf(TriggerKind::kAllocatedBytes);
  const bool all = IndexOf(TriggerKind::kAllocations) >= 0;
  if (all && place >= 0) {
    return WrongUse("SCS: ALLOCATIONS and ALLOCATED_BYTES exclude each other; use one of them");
  }
  constexpr uint64_t kLargest = 1 << 30;
  const uint64_t interval =
      all ? 0 : std::min(triggers_[static_cast<size_t>(place)].every, kLargest);
  jvmti->SetHeapSamplingInterval(static_cast<jint>(interval));
  return {};
}

Result<void> VmTriggers::AddTo(JvmtiEvents& events, jvmtiEnv* jvmti) const {
  using Slots = jvmtiEventCallbacks;
  using enum TriggerKind;
  const bool allocations = Has({kAllocatedBytes, kAllocations});
  const bool contention = Has({kMonitorContendedEnter, kMonitorContendedEntered});
  const bool waits = Has({kMonitorWait, kMonitorWaited});
  jvmtiCapabilities wanted = {};
  wanted.can_generate_sampled_object_alloc_events = allocations;
  wanted.can_generate_monitor_events = contention || waits;
  if (jvmti->AddCapabilities(&wanted) != JVMTI_ERROR_NONE) {
    return Fail("this JVM does not report {}", allocations ? "allocations" : "monitors");
  }
  if (allocations) {
    if (auto set = SetHeapSampling(jvmti); !set) return set;
    events.Add(JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, &Slots::SampledObjectAlloc, OnAllocation);
  }
  if (contention) {
    events.Add(JVMTI_EVENT_MONITOR_CONTENDED_ENTER, &Slots::MonitorContendedEnter,
               OnContendedEnter);
    events.Add(JVMTI_EVENT_MONITOR_CONTENDED_ENTERED, &Slots::MonitorContendedEntered,
               OnContendedEntered);
  }
  if (waits) {
    events.Add(JVMTI_EVENT_MONITOR_WAIT, &Slots::MonitorWait, OnWait);
    events.Add(JVMTI_EVENT_MONITOR_WAITED, &Slots::MonitorWaited, OnWaited);
  }
  if (Has({kClassLoad})) events.Add(JVMTI_EVENT_CLASS_LOAD, &Slots::ClassLoad, OnClassLoad);
  return {};
}

namespace {

void JNICALL OnVirtualThreadStart(jvmtiEnv* jvmti, JNIEnv*, jthread thread) {
  TheAgent().sampling->virtual_rows().Started(ThreadName(jvmti, thread));
}
void JNICALL OnVirtualThreadEnd(jvmtiEnv*, JNIEnv*, jthread) {
  TheAgent().sampling->virtual_rows().Ended();
}

}  // namespace

jvmtiEnv* ReportVirtualThreads(JavaVM* java) {
  jvmtiEnv* jvmti = NewJvmtiEnv(java);
  if (jvmti == nullptr) return nullptr;
  if (!AddVirtualThreadSupport(jvmti)) {
    jvmti->DisposeEnvironment();
    return nullptr;
  }
  JvmtiEvents events;
  events.AddVirtualThreads(OnVirtualThreadStart, OnVirtualThreadEnd);
  events.Install(jvmti);
  return jvmti;
}

}  // namespace jprof::agent
