#include "jprof/agent/sampling/triggers.h"

#include <algorithm>

#include "common/monotonic.h"
#include "common/random.h"
#include "jprof/agent/vm/in_use.h"
#include "jprof/engine/thread.h"

namespace jprof::agent {
namespace {

constexpr jint kDefaultHeapInterval = 512 * 1024;  // of JVMTI

void JNICALL OnAllocation(jvmtiEnv* jvmti, JNIEnv* jni, jthread, jobject object, jclass type,
                          jlong size) {
  const InUse<VmTriggers> triggers;
  if (triggers) triggers->Allocated({jvmti, jni, object, type}, size);
}
void JNICALL OnContendedEnter(jvmtiEnv* jvmti, JNIEnv* jni, jthread, jobject object) {
  const InUse<VmTriggers> triggers;
  if (!triggers) return;
  triggers->Count(options::TriggerKind::kMonitorContendedEnter, {jvmti, jni, object});
  triggers->BeginTiming(options::TriggerKind::kMonitorContendedEntered);
}
void JNICALL OnContendedEntered(jvmtiEnv* jvmti, JNIEnv* jni, jthread, jobject object) {
  const InUse<VmTriggers> triggers;
  if (!triggers) return;
  triggers->EndTiming(options::TriggerKind::kMonitorContendedEntered, {jvmti, jni, object});
}
void JNICALL OnWait(jvmtiEnv* jvmti, JNIEnv* jni, jthread, jobject object, jlong) {
  const InUse<VmTriggers> triggers;
  if (!triggers) return;
  triggers->Count(options::TriggerKind::kMonitorWait, {jvmti, jni, object});
  triggers->BeginTiming(options::TriggerKind::kMonitorWaited);
}
void JNICALL OnWaited(jvmtiEnv* jvmti, JNIEnv* jni, jthread, jobject object, jboolean) {
  const InUse<VmTriggers> triggers;
  if (triggers) triggers->EndTiming(options::TriggerKind::kMonitorWaited, {jvmti, jni, object});
}
template <options::TriggerKind kKind>
void JNICALL OnClass(jvmtiEnv* jvmti, JNIEnv* jni, jthread, jclass type) {
  const InUse<VmTriggers> triggers;
  if (triggers) triggers->Count(kKind, {jvmti, jni, nullptr, type});
}

}  // namespace

// Returns the index of a trigger among the options', or -1 if it was not requested.
int VmTriggers::IndexOf(options::TriggerKind kind) const {
  const auto found = std::ranges::find(triggers_, kind, &options::Trigger::kind);
  return found != triggers_.end() ? static_cast<int>(found - triggers_.begin()) : -1;
}

bool VmTriggers::Has(std::initializer_list<options::TriggerKind> kinds) const {
  return std::ranges::any_of(kinds, [&](options::TriggerKind kind) { return IndexOf(kind) >= 0; });
}

// Returns whether the event completes a period of the trigger. ALLOCATED_BYTES is sampled by the VM
// itself.
bool VmTriggers::IsNthEvent(EventSink::ThreadEvents& thread, int place) const {
  const options::Trigger& trigger = triggers_[static_cast<size_t>(place)];
  if (trigger.kind == options::TriggerKind::kAllocatedBytes) return true;
  return ++thread.count[place] % trigger.every == 0;
}

void VmTriggers::Add(int place, int64_t weight, const VmEvent& event) const {
  JvmtiString signature(event.jvmti);
  if (with_class_ && (event.object != nullptr || event.type != nullptr)) {
    const jclass type =
        event.type != nullptr ? event.type : event.jni->GetObjectClass(event.object);
    event.jvmti->GetClassSignature(type, signature.out(), nullptr);
    if (event.type == nullptr) event.jni->DeleteLocalRef(type);
  }
  sink_.AddEvent(static_cast<size_t>(place), weight, signature.c_str());
}

void VmTriggers::Count(options::TriggerKind kind, const VmEvent& event) const {
  EventSink::ThreadEvents* const thread = sink_.EventsOfThread();
  const int place = IndexOf(kind);
  if (thread == nullptr || place < 0 || !sink_.TakesEvents()) return;
  if (IsNthEvent(*thread, place)) Add(place, 1, event);
}

void VmTriggers::BeginTiming(options::TriggerKind kind) const {
  EventSink::ThreadEvents* const thread = sink_.EventsOfThread();
  const int place = IndexOf(kind);
  if (thread == nullptr || place < 0) return;
  thread->since_ns[place] = static_cast<uint64_t>(MonotonicNanos());
}

// Ends a measured event. A sample represents N events, so its weight is N times the measured time.
void VmTriggers::EndTiming(options::TriggerKind kind, const VmEvent& event) const {
  EventSink::ThreadEvents* const thread = sink_.EventsOfThread();
  const int place = IndexOf(kind);
  if (thread == nullptr || place < 0 || thread->since_ns[place] == 0) return;
  const int64_t passed_ns = MonotonicNanos() - static_cast<int64_t>(thread->since_ns[place]);
  thread->since_ns[place] = 0;
  if (!sink_.TakesEvents() || !IsNthEvent(*thread, place)) return;
  const uint64_t every = triggers_[static_cast<size_t>(place)].every;
  Add(place, passed_ns * static_cast<int64_t>(every), event);
}

void VmTriggers::Allocated(const VmEvent& event, jlong size) const {
  if (sink_.EventsOfThread() == nullptr || !sink_.TakesEvents()) return;
  const int place = IndexOf(options::TriggerKind::kAllocatedBytes);
  const auto bytes = static_cast<uint64_t>(size);
  if (place >= 0 && interval_.Keeps(bytes, NextRandom(engine::current_thread->random)))
    Add(place, interval_.Weight(bytes), event);
  Count(options::TriggerKind::kAllocations, event);
}

VmTriggers::~VmTriggers() {
  Unpublish(*this);
  // The interval belongs to the VM, not to an environment.
  if (interval_set_) jvmti_->SetHeapSamplingInterval(kDefaultHeapInterval);
}

Result<void> VmTriggers::Open(JavaVM* java) {
  jvmti_ = NewJvmtiEnv(java);
  if (jvmti_ == nullptr) return Fail("this JVM has no JVMTI");
  if (auto added = AddCapabilities(); !added) return added;
  AddEvents();
  return SetHeapSampling(MajorVersion(java));
}

void VmTriggers::Begin() {
  Publish(*this);
  events_.Install(jvmti_);
}

Result<void> VmTriggers::AddCapabilities() const {
  using enum options::TriggerKind;
  jvmtiCapabilities wanted = {};
  wanted.can_generate_sampled_object_alloc_events = Has({kAllocatedBytes, kAllocations});
  wanted.can_generate_monitor_events =
      Has({kMonitorContendedEnter, kMonitorContendedEntered, kMonitorWait, kMonitorWaited});
  if (jvmti_->AddCapabilities(&wanted) == JVMTI_ERROR_NONE) return {};
  return Fail("this JVM does not report {}",
              wanted.can_generate_sampled_object_alloc_events ? "allocations" : "monitors");
}

Result<void> VmTriggers::SetHeapSampling(int java_version) {
  const int place = IndexOf(options::TriggerKind::kAllocatedBytes);
  const bool all = IndexOf(options::TriggerKind::kAllocations) >= 0;
  if (!all && place < 0) return {};
  if (all && place >= 0) {
    return WrongUse("SCS: ALLOCATIONS and ALLOCATED_BYTES exclude each other; use one of them");
  }
  constexpr uint64_t kLargest = 1 << 30;
  if (!all)
    interval_ = {std::min(triggers_[static_cast<size_t>(place)].every, kLargest), java_version};
  jvmti_->SetHeapSamplingInterval(all ? 0 : static_cast<jint>(interval_.vm_bytes()));
  interval_set_ = true;
  return {};
}

void VmTriggers::AddEvents() {
  using Slots = jvmtiEventCallbacks;
  using enum options::TriggerKind;
  const auto add = [&](std::initializer_list<options::TriggerKind> kinds, jvmtiEvent event,
                       auto slot, auto callback) {
    if (Has(kinds)) events_.Add(event, slot, callback);
  };
  add({kAllocatedBytes, kAllocations}, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, &Slots::SampledObjectAlloc,
      kGuarded<OnAllocation>);
  add({kMonitorContendedEnter, kMonitorContendedEntered}, JVMTI_EVENT_MONITOR_CONTENDED_ENTER,
      &Slots::MonitorContendedEnter, kGuarded<OnContendedEnter>);
  add({kMonitorContendedEnter, kMonitorContendedEntered}, JVMTI_EVENT_MONITOR_CONTENDED_ENTERED,
      &Slots::MonitorContendedEntered, kGuarded<OnContendedEntered>);
  add({kMonitorWait, kMonitorWaited}, JVMTI_EVENT_MONITOR_WAIT, &Slots::MonitorWait,
      kGuarded<OnWait>);
  add({kMonitorWait, kMonitorWaited}, JVMTI_EVENT_MONITOR_WAITED, &Slots::MonitorWaited,
      kGuarded<OnWaited>);
  add({kClassLoad}, JVMTI_EVENT_CLASS_LOAD, &Slots::ClassLoad, kGuarded<OnClass<kClassLoad>>);
}

}  // namespace jprof::agent
