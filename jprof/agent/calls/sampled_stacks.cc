#include "jprof/agent/calls/sampled_stacks.h"

namespace jprof::agent {

Result<std::unique_ptr<CallSource>> SampledStacks::Open(const CallContext& context) {
  auto vm = HotspotVm::Open();
  if (!vm && vm.error().kind == Error::Kind::kWrongUse)
    return WrongUse("SCS needs HotSpot: {}", vm.error().message);
  if (!vm) return std::unexpected(vm.error());
  return std::unique_ptr<CallSource>(new SampledStacks(context, *std::move(vm)));
}

}  // namespace jprof::agent
