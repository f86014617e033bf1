// Serves a tree whose calls are known only from sampled stacks: the samplers add them, and nothing
// is changed in the VM.
#pragma once

#include <memory>
#include <utility>

#include "jprof/agent/calls/call_source.h"

namespace jprof::agent {

class SampledStacks final : public CallSource {
 public:
  // Fails if this JVM is not HotSpot.
  static Result<std::unique_ptr<CallSource>> Open(const CallContext& context);

  engine::MethodSource& methods() override { return vm_.vm; }
  HotspotVm* vm() override { return &vm_; }

 private:
  SampledStacks(const CallContext& context, HotspotVm vm)
      : CallSource(context), vm_(std::move(vm)) {}

  HotspotVm vm_;
};

}  // namespace jprof::agent
