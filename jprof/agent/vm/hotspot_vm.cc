#include "jprof/agent/vm/hotspot_vm.h"

namespace jprof::agent {

Result<HotspotVm> HotspotVm::Open() {
  const auto structs = hotspot::VmStructs::Load();
  if (!structs) return WrongUse("this JVM is not HotSpot");
  auto vm = hotspot::Vm::Open(*structs);
  if (!vm) return std::unexpected(vm.error());
  return HotspotVm{*structs, *vm};
}

}  // namespace jprof::agent
