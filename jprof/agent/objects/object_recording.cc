#include "jprof/agent/objects/object_recording.h"

#include <algorithm>
#include <utility>

#include "jprof/agent/vm/existing_threads.h"
#include "jprof/hotspot/objects/object_counts.h"
#include "jprof/hotspot/vm/libjvm_image.h"
#include "jprof/setup/print_message.h"
#include "options/late_calls.h"

namespace jprof::agent {
namespace {

std::unexpected<Error> UseSamples(const Error& error) {
  return WrongUse("OBJECTS: {}; use SCS=ALLOCATED_BYTES (jprof scs --event ALLOCATED_BYTES)",
                  error.message);
}

}  // namespace

ObjectRecording::ObjectRecording(const Setting& setting, hotspot::AllocationProbe probe,
                                 hotspot::ThreadAllocation allocated)
    : setting_(setting), probe_(std::move(probe)), allocated_(allocated) {}

Result<std::unique_ptr<ObjectRecording>> ObjectRecording::Open(const Setting& setting) {
  const auto image = hotspot::LibjvmImage::Open();
  if (!image) return std::unexpected(image.error());
  auto probe = hotspot::AllocationProbe::Find(*image, setting.vm.structs);
  if (!probe) return UseSamples(probe.error());
  std::optional<hotspot::LateAllocations> late;
  if (setting.attached) {
    const bool tests = setting.java_version <= options::kLastJdkWithLateCalls;
    const auto found = hotspot::LateAllocations::Find(*image, setting.vm.structs, *probe, tests);
    if (!found) return UseSamples(found.error());
    late = *found;
  }
  const auto allocated = hotspot::ThreadAllocation::Open(setting.vm.structs);
  if (!allocated) return std::unexpected(allocated.error());
  std::unique_ptr<ObjectRecording> recording(
      new ObjectRecording(setting, *std::move(probe), *allocated));
  recording->late_ = late;
  if (setting.options.live == options::Live::kNo) return recording;
  if (setting.attached) {
    return WrongUse(
        "live objects are counted from the start of the JVM only; use jprof objects --live exact "
        "-- java ..., or leave --live out");
  }
  auto live = LiveObjects::Open({setting.java, setting.options, setting.vm, setting.session});
  if (!live) return std::unexpected(live.error());
  recording->live_ = *std::move(live);
  return recording;
}

Result<void> ObjectRecording::BeginWithJvm() {
  if (late_) return {};
  if (live_) live_->BeginWithJvm();
  auto counts = Count();
  if (counts) probe_.Report(true);
  return counts;
}

Result<void> ObjectRecording::Count() const {
  if (!live_) return probe_.Count(setting_.session, setting_.woven, hotspot::Noted::kNothing, {});
  return probe_.Count(setting_.session, setting_.woven, live_->noted(), live_->marks());
}

void ObjectRecording::Begin(JNIEnv* jni) {
  AddThread(jni);
  if (live_) live_->Begin(jni);
}

Result<void> ObjectRecording::BeginLate(JNIEnv* jni) {
  return late_ ? late_->Install(probe_, jni) : Result<void>();
}

Result<void> ObjectRecording::CountLate() { return late_ ? Count() : Result<void>(); }

Result<void> ObjectRecording::EndLate(JNIEnv* jni) {
  if (!late_) return {};
  End(jni);
  const auto removed = late_->Remove(probe_, jni);
  if (!removed) return std::unexpected(removed.error());
  if (!*removed) setup::PrintMessage("a compilation that began before the end is still running");
  return {};
}

void ObjectRecording::AddThread(JNIEnv* jni) {
  engine::Thread* const state = engine::current_thread;
  jthread thread = nullptr;
  if (state == nullptr || state->vm_thread != 0 ||
      setting_.jvmti->GetCurrentThread(&thread) != JVMTI_ERROR_NONE)
    return;
  state->vm_thread = VmThreadOf(jni, thread);
  jni->DeleteLocalRef(thread);
  if (late_ && state->vm_thread != 0) SetBegin(*state);
}

// What a thread has allocated before it is recorded does not belong to it.
void ObjectRecording::SetBegin(engine::Thread& thread) const {
  hotspot::ObjectCounts* counts = hotspot::ObjectCounts::Of(thread);
  if (counts == nullptr) counts = hotspot::ObjectCounts::Make(thread, setting_.woven);
  if (counts != nullptr) counts->before = allocated_.Of(thread.vm_thread) - counts->seen;
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

// Threads that began before the VM reported threads are found by their native ids. In a running VM
// these are threads of which it is not known what they had allocated before: they have never called
// a counted method, or had a virtual thread when they did.
void ObjectRecording::End(JNIEnv* jni) {
  if (std::exchange(ended_, true)) return;
  if (live_) live_->End(jni);
  const auto existing = ExistingThreads(jni, setting_.jvmti);
  if (!existing) return;
  setting_.session.threads().ForEach([&](engine::Thread& state) {
    const auto found = std::ranges::find(*existing, state.record->tid,
                                         [](const auto& thread) { return thread.native.tid; });
    if (found == existing->end() || (late_ && state.vm_thread == 0)) return;
    state.vm_thread = found->vm_thread;
    SetUnseen(state);
  });
}

}  // namespace jprof::agent
