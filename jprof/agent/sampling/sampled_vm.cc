#include "jprof/agent/sampling/sampled_vm.h"

#include <utility>

#include "jprof/agent/vm/in_use.h"

namespace jprof::agent {

Result<void> SampledVm::Open(JavaVM* java, EventSink& sink) {
  java_ = java;
  if (!plan_.vm_triggers) return {};
  triggers_.emplace(options_.triggers, sink, options_.object_info);
  return triggers_->Open(java);
}

void SampledVm::Begin() {
  if (plan_.debug_info) debug_info_ = hotspot::Vm::Flag(hotspot_.structs, "DebugNonSafepoints");
  // Compilers then describe all locations in their code, not only safepoints.
  if (debug_info_ != nullptr) debug_info_before_ = std::exchange(*debug_info_, 1);
  if (triggers_) triggers_->Begin();
  if (plan_.virtual_thread_names) ReportVirtualThreads();
}

void SampledVm::ReportVirtualThreads() {
  jvmtiEnv* const jvmti = NewJvmtiEnv(java_);
  if (jvmti == nullptr) return;
  if (!AddVirtualThreadSupport(jvmti)) {
    jvmti->DisposeEnvironment();
    return;
  }
  virtual_threads_ = jvmti;
  Publish(rows_);
  virtual_thread_events_.AddVirtualThreads(kGuarded<OnVirtualThreadStart>,
                                           kGuarded<OnVirtualThreadEnd>);
  virtual_thread_events_.Install(jvmti);
}

void JNICALL SampledVm::OnVirtualThreadStart(jvmtiEnv* jvmti, JNIEnv*, jthread thread) {
  if (const InUse<VirtualRows> rows; rows) rows->Started(ThreadName(jvmti, thread));
}

void JNICALL SampledVm::OnVirtualThreadEnd(jvmtiEnv*, JNIEnv*, jthread) {
  if (const InUse<VirtualRows> rows; rows) rows->Ended();
}

void SampledVm::End() {
  if (triggers_) triggers_->End();
  if (virtual_threads_ != nullptr) virtual_thread_events_.Uninstall(virtual_threads_);
}

void SampledVm::Close() {
  triggers_.reset();
  if (debug_info_ != nullptr) *std::exchange(debug_info_, nullptr) = debug_info_before_;
  if (virtual_threads_ != nullptr) std::exchange(virtual_threads_, nullptr)->DisposeEnvironment();
}

}  // namespace jprof::agent
