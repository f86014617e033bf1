// Takes samples at events of the VM: allocations, contended monitors, waits, classes. The callbacks
// run on the thread that the event is about and reach this object through InUse. The events go to a
// sink, which knows the context.
#pragma once

#include <jvmti.h>

#include <cstdint>
#include <initializer_list>
#include <span>

#include "common/result.h"
#include "jprof/agent/sampling/vm_event_source.h"
#include "jprof/agent/vm/allocation_interval.h"
#include "jprof/agent/vm/event_sink.h"
#include "options/triggers.h"

namespace jprof::agent {

// One event of the VM, with its object or class; both may be null.
struct VmEvent {
  jvmtiEnv* jvmti;
  JNIEnv* jni;
  jobject object = nullptr;
  jclass type = nullptr;
};

class VmTriggers final : public VmEventSource {
 public:
  // Adds the class of the object as a leaf of the context if `with_class`. All arguments must exist
  // as long as the object.
  VmTriggers(std::span<const options::Trigger> triggers, EventSink& sink, bool with_class)
      : triggers_(triggers), sink_(sink), with_class_(with_class) {}
  ~VmTriggers() override;

  // Requests the capabilities of the triggers. Fails if the VM does not support them, or (wrong
  // use) if the triggers exclude each other.
  Result<void> Open(JavaVM* java) override;
  void Begin() override;

  // The callbacks call these functions, which do nothing if the trigger was not requested.
  //
  // Handles an event of a trigger that counts events.
  void Count(options::TriggerKind kind, const VmEvent& event) const;
  // Handle the begin and the end of an event whose duration is measured.
  void BeginTiming(options::TriggerKind kind) const;
  void EndTiming(options::TriggerKind kind, const VmEvent& event) const;
  // Handles an object that the VM selected as a sample of allocations.
  void Allocated(const VmEvent& event, jlong size) const;

 private:
  int IndexOf(options::TriggerKind kind) const;
  bool Has(std::initializer_list<options::TriggerKind> kinds) const;
  void AddEvents();
  Result<void> AddCapabilities() const;
  Result<void> SetHeapSampling(int java_version);
  bool IsNthEvent(EventSink::ThreadEvents& thread, int place) const;
  void Add(int place, int64_t weight, const VmEvent& event) const;

  std::span<const options::Trigger> triggers_;
  EventSink& sink_;
  const bool with_class_;
  AllocationInterval interval_{1, 0};  // for ALLOCATED_BYTES
  bool interval_set_ = false;
};

}  // namespace jprof::agent
