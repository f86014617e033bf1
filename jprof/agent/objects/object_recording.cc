#include "jprof/agent/objects/object_recording.h"

#include <algorithm>
#include <utility>

#include "jprof/agent/vm/existing_threads.h"
#include "jprof/hotspot/objects/object_counts.h"
#include "jprof/hotspot/vm/libjvm_image.h"

namespace jprof::agent {

ObjectRecording::ObjectRecording(const Setting& setting, hotspot::AllocationProbe probe,
                                 hotspot::ThreadAllocation allocated)
    : setting_(setting), probe_(std::move(probe)), allocated_(allocated) {}

Result<std::unique_ptr<ObjectRecording>> ObjectRecording::Open(const Setting& setting) {
  const auto image = hotspot::LibjvmImage::Open();
  if (!image) return std::unexpected(image.error());
  auto probe = hotspot::AllocationProbe::Find(*image, setting.vm.structs);
  if (!probe)
    return WrongUse("OBJECTS: {}; use SCS=ALLOCATED_BYTES (jprof scs --event ALLOCATED_BYTES)",
                    probe.error().message);
  const auto allocated = hotspot::ThreadAllocation::Open(setting.vm.structs);
  if (!allocated) return std::unexpected(allocated.error());
  std::unique_ptr<ObjectRecording> recording(
      new ObjectRecording(setting, *std::move(probe), *allocated));
  if (setting.options.live == options::Live::kNo) return recording;
  auto live = LiveObjects::Open({setting.java, setting.options, setting.vm, setting.session});
  if (!live) return std::unexpected(live.error());
  recording->live_ = *std::move(live);
  return recording;
}

Result<void> ObjectRecording::BeginWithJvm() {
  if (!live_) return probe_.Install(setting_.session, setting_.woven, hotspot::Noted::kNothing, {});
  live_->BeginWithJvm();
  return probe_.Install(setting_.session, setting_.woven, live_->noted(), live_->marks());
}

void ObjectRecording::Begin(JNIEnv* jni) {
  AddThread(jni);
  if (live_) live_->Begin(jni);
}

void ObjectRecording::AddThread(JNIEnv* jni) {
  engine::Thread* const state = engine::current_thread;
  jthread thread = nullptr;
  if (state == nullptr || state->vm_thread != 0 ||
      setting_.jvmti->GetCurrentThread(&thread) != JVMTI_ERROR_NONE)
    return;
  state->vm_thread = VmThreadOf(jni, thread);
  jni->DeleteLocalRef(thread);
}

// Another object on this native thread would belong to another Java thread, whose current node is
// in another VM thread: the attention makes it leave the fast path, which gets a new state.
void ObjectRecording::RemoveThread() {
  engine::Thread* const state = engine::current_thread;
  if (state == nullptr) return;
  SetUnseen(*state);
  state->woven_current = nullptr;
  __atomic_fetch_or(&state->attention, uint32_t{engine::kForgetMethods}, __ATOMIC_ACQ_REL);
}

void ObjectRecording::SetUnseen(engine::Thread& thread) const {
  hotspot::ObjectCounts* const counts = hotspot::ObjectCounts::Of(thread);
  if (counts != nullptr && thread.vm_thread != 0)
    counts->SetUnseen(allocated_.Of(thread.vm_thread));
}

// Threads that began before the VM reported threads are found by their native ids.
void ObjectRecording::End(JNIEnv* jni) {
  if (live_) live_->End(jni);
  const auto existing = ExistingThreads(jni, setting_.jvmti);
  if (!existing) return;
  setting_.session.threads().ForEach([&](engine::Thread& state) {
    const auto found = std::ranges::find(*existing, state.record->tid,
                                         [](const auto& thread) { return thread.native.tid; });
    if (found == existing->end()) return;
    state.vm_thread = found->vm_thread;
    SetUnseen(state);
  });
}

}  // namespace jprof::agent
