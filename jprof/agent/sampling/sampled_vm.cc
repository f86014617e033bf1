#include "jprof/agent/sampling/sampled_vm.h"

#include <utility>

#include "jprof/agent/sampling/triggers.h"
#include "jprof/agent/sampling/virtual_threads.h"

namespace jprof::agent {

Result<void> SampledVm::Open(JavaVM* java, EventSink& sink) {
  if (plan_.vm_triggers)
    sources_.push_back(std::make_unique<VmTriggers>(options_.triggers, sink, options_.object_info));
  if (plan_.virtual_thread_names) sources_.push_back(std::make_unique<VirtualThreads>(rows_));
  for (const auto& source : sources_)
    if (auto opened = source->Open(java); !opened) return opened;
  return {};
}

void SampledVm::Begin() {
  if (plan_.debug_info) debug_info_ = hotspot::Vm::Flag(hotspot_.structs, "DebugNonSafepoints");
  // Compilers then describe all locations in their code, not only safepoints.
  if (debug_info_ != nullptr) debug_info_before_ = std::exchange(*debug_info_, 1);
  for (const auto& source : sources_) source->Begin();
}

void SampledVm::End() {
  for (const auto& source : sources_) source->End();
}

void SampledVm::Close() {
  sources_.clear();
  if (debug_info_ != nullptr) *std::exchange(debug_info_, nullptr) = debug_info_before_;
}

}  // namespace jprof::agent
